/** Optional online street tiles under the cells: there when the server answers, silently absent otherwise. */

const reachable = new Map(); // url -> Promise<boolean>, asked once a page

function probe(url) {
  if (!reachable.has(url)) {
    const first = url.replace('{z}', 0).replace('{x}', 0).replace('{y}', 0);
    const asked = fetch(first, {mode: 'cors', signal: AbortSignal.timeout(4000)});
    reachable.set(url, asked.then(answer => answer.ok, () => false));
  }
  return reachable.get(url);
}

export class Tiles {
  constructor(app) {
    this.app = app;
    this.ready = false;
  }

  update(spec) {
    this.spec = spec;
    this.ready = false;
    if (!spec?.url) return;
    probe(spec.url).then(ok => {
      if (this.spec !== spec) return;
      this.ready = ok;
      this.app.controls.tilesReachable(ok);
      this.app.render();
    });
  }

  layers({TileLayer, BitmapLayer}, dark) {
    const shown = this.ready && this.app.view.tiles;
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
