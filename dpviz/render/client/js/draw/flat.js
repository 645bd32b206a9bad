/**
 * A 2-D canvas replacement for the few parts of deck.gl that the map uses: drawn before deck.gl has
 * loaded, or where WebGL is missing. It draws the same layers; the pointer does not move its camera.
 */
import {paintLayer} from './brush.js';
import {h} from '../core/dom.js';
import {FlatViewport} from '../core/mercator.js';

class FlatLayer {
  constructor(props) {
    this.props = {opacity: 1, visible: true, ...props};
    this.id = props.id;
    this.isLoaded = true;
  }

  clone(changes) {
    return new this.constructor({...this.props, ...changes});
  }
}

const FLAT_NAMES = ['BitmapLayer', 'CellLayer', 'PathLayer', 'PlaceLayer', 'PolygonLayer', 'ScatterplotLayer', 'SolidPolygonLayer', 'TileLayer', 'TripsLayer'];
const FLAT_KINDS = Object.fromEntries(FLAT_NAMES.map(name => [name, class extends FlatLayer { static layerName = name; }]));
const FLAT_DEFAULTS = {TripsLayer: {currentTime: 0}, CellLayer: {raw: false, depth: 255}};

export class FlatView {
  constructor(props) {
    this.props = props;
  }

  /** The viewport of this view; x, y, width and height are pixels or percentages. */
  seen({width, height}, camera) {
    const share = (value, whole) => typeof value === 'string' ? parseFloat(value) / 100 * whole : value ?? 0;
    const {id, x, y, width: wide = '100%', height: high = '100%'} = this.props;
    return new FlatViewport({id, x: share(x, width), y: share(y, height), width: share(wide, width), height: share(high, height), ...camera});
  }
}

/** Paints layers in each of the viewports that shows them; `ratio` is of pixels to the page's. */
export function paintLayers(pen, viewports, layers, layerFilter, ratio) {
  for (const viewport of viewports) {
    pen.save();
    pen.scale(ratio, ratio);
    pen.beginPath();
    pen.rect(viewport.x, viewport.y, viewport.width, viewport.height);
    pen.clip();
    pen.translate(viewport.x, viewport.y);
    for (const layer of layers) if (layerFilter({layer, viewport})) paintLayer(pen, viewport, layer, ratio);
    pen.restore();
  }
}

class FlatDeck {
  constructor(props) {
    this.props = props;
    this.isFlat = true;
    this.canvas = h('canvas', {class: 'flat'});
    props.parent.append(this.canvas);
  }

  setProps(changes) {
    Object.assign(this.props, changes);
    this.frame ??= requestAnimationFrame(() => this.redraw());
  }

  get width() {
    return this.props.parent.clientWidth;
  }

  get height() {
    return this.props.parent.clientHeight;
  }

  getViewports() {
    const {views, viewState} = this.props;
    return [views].flat().map(view => view.seen(this, viewState[view.props.id] ?? viewState));
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    const {layers, layerFilter = () => true} = this.props;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.width, this.height].map(pixels => Math.round(pixels * ratio));
    if (!width || !height || !this.canvas.isConnected) return;
    Object.assign(this.canvas, {width, height}); // also clears the canvas
    const pen = this.canvas.getContext('2d');
    paintLayers(pen, this.getViewports(), layers, layerFilter, ratio);
    this.props.onAfterRender();
  }

  finalize() {
    cancelAnimationFrame(this.frame);
    this.canvas.remove();
  }
}

const IDENTITY = '@@=-'; // deck.gl's JSON for the identity function
const readable = props => Object.fromEntries(Object.entries(props).map(([name, value]) => [name, value === IDENTITY ? each => each : value]));

const flatConverter = {
  convert: ({layers}) => ({layers: layers.map(({'@@type': kind, ...props}) =>
    new FLAT_KINDS[kind]({...FLAT_DEFAULTS[kind], ...readable(props)}))}),
};

/** Same form as {deck, converter} of `gl.js`. */
export const flat = {deck: {...FLAT_KINDS, Deck: FlatDeck, MapView: FlatView}, converter: flatConverter};
