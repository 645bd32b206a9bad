/** Online street tiles: asked for only after the visitor pressed the button, which says what that tells whom. */

export class Tiles {
  constructor(app) {
    this.app = app;
    this.spec = null;
  }

  update(spec) {
    this.spec = spec?.url ? spec : null;
  }

  get shown() {
    return Boolean(this.spec && this.app.view.tiles);
  }

  layers({TileLayer, BitmapLayer}, dark) {
    const {shown} = this;
    this.app.attribution.textContent = shown ? this.spec.attribution : '';
    if (!shown) return [];
    return [new TileLayer({
      id: 'dpviz-tiles', data: this.spec.url, minZoom: 0, maxZoom: 19, tileSize: 256, onTileError: () => {},
      renderSubLayers: props => {
        const [[west, south], [east, north]] = props.tile.boundingBox;
        return new BitmapLayer(props, {
          data: null, image: props.data, bounds: [west, south, east, north],
          desaturate: 0.8, tintColor: dark ? [110, 115, 120] : [255, 255, 255],
        });
      },
    })];
  }
}
