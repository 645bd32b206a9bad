/**
 * Online street tiles: requested only after the visitor has read what the tile server learns, and agreed.
 * The bundled base map stays until a tile has arrived; if none arrives in time, a message says so.
 */
const TIMEOUT_MS = 3000;

export class Tiles {
  constructor(app) {
    this.app = app;
    this.spec = null;
    this.asked = this.here = false;
  }

  update(spec) {
    this.spec = spec?.url ? spec : null;
    if (!this.spec) this.show(false);
  }

  get host() {
    return new URL(this.spec.url.replace(/[{}]/g, '')).hostname;
  }

  /** Whether the ground is theirs; a printed map, drawn flat, has the bundled one. */
  get shown() {
    return this.here && !this.app.paper.on;
  }

  /** Requests tiles, or shows the bundled base map again. */
  show(on) {
    clearTimeout(this.timer);
    this.asked = on;
    this.here = false;
    if (on) this.timer = setTimeout(() => this.failed(), TIMEOUT_MS);
  }

  came() {
    clearTimeout(this.timer);
    if (this.here || !this.asked) return;
    this.here = true;
    this.app.dress();
  }

  failed() {
    this.show(false);
    this.app.labels.hint(`No street map: ${this.host} does not answer. Check your network connection.`, 6000);
    this.app.dress();
  }

  layers({TileLayer, BitmapLayer}, dark) {
    if (!this.asked) return [];
    return [new TileLayer({
      id: 'dpviz-tiles', data: this.spec.url, minZoom: 0, maxZoom: 19, tileSize: 256, onTileError: () => {}, onTileLoad: () => this.came(),
      renderSubLayers: props => {
        const [[west, south], [east, north]] = props.tile.boundingBox;
        return new BitmapLayer(props, {
          data: null, image: props.data, bounds: [west, south, east, north], visible: this.shown,
          desaturate: 0.8, tintColor: dark ? [110, 115, 120] : [255, 255, 255],
        });
      },
      updateTriggers: {renderSubLayers: [this.shown, dark]},
    })];
  }
}
