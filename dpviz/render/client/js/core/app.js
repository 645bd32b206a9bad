/**
 * One map on the page: state, views, and what its host hears (the app, or a file that travels).
 *
 * The host gives two things. The *scene* (layers, columns, legend, camera) changes when there is
 * something else to look at. The *overlay* (highlighted cells, a shape set from outside) is small and
 * changes at every answer; it has its own mount so that the scene need not travel again.
 */
import {BoundLayers} from '../draw/bound.js';
import {Controls, hintOf} from '../input/controls.js';
import {h, isDark} from './dom.js';
import {Film} from './film.js';
import {flat} from '../draw/flat.js';
import {hit} from '../input/hit.js';
import {Keyboard} from '../input/keyboard.js';
import {Labels} from '../draw/labels.js';
import {drawnLayers, isClassed} from '../draw/layers.js';
import {legendElement, lockBox} from '../draw/legend.js';
import {savePicture} from '../draw/picture.js';
import {css} from './palette.js';
import {Paper} from '../draw/paper.js';
import {Pointer} from '../input/pointer.js';
import {Present} from './present.js';
import {description} from '../input/shapes.js';
import {Sight} from './sight.js';
import {Surround} from '../draw/surround.js';
import {Tiles} from '../draw/tiles.js';
import {Tooltip} from '../draw/tooltip.js';

const USUAL = 560; // pixels that a map is high in a window of usual size, where nobody says otherwise
const REACH = 5; // pixels around a click in which a mark is still hit: lines are thin
const PLAIN_THEME = { // until a scene brings the project's own
  land: [246, 244, 239], water: [219, 228, 234], shore: [159, 177, 190], frame: [139, 145, 153], text: [44, 49, 56],
  halo: [255, 255, 255], hatch: [125, 97, 197], accents: {tide: [194, 65, 12]},
};

export class MapApp {
  /** Draws flat until `take` brings deck.gl. */
  constructor(parent) {
    this.gl = flat;
    this.root = h('div', {class: 'map', tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'data-testid': 'dpviz-map'});
    this.canvasHost = h('div', {class: 'canvas'});
    this.root.append(this.canvasHost);
    this.strip = h('div', {class: 'strip', hidden: true});
    this.film = new Film(this);
    this.frame = h('div', {class: 'frame'}, this.root, this.film.element, this.strip);
    parent.append(this.frame);
    Object.assign(this, {
      player: null, scene: [], overlay: [], tooltips: {}, tools: [], mode: 'single',
      shape: null, draft: null, tool: null, split: 0.5, emit: () => {}, trigger: () => {},
      view: {raw: false, smooth: false, palette: 'tide', depth: 255}, picks: false, counter: 0,
    });
    this.bound = new BoundLayers(this);
    this.sight = new Sight(this);
    this.status = h('div', {class: 'status', role: 'status', 'aria-live': 'polite', 'data-testid': 'dpviz-status'});
    this.attribution = h('div', {class: 'attribution'});
    this.where = h('div', {class: 'where', 'aria-hidden': 'true', 'data-testid': 'dpviz-where'});
    this.corner = h('div', {class: 'corner'}, this.where, this.attribution);
    this.surround = new Surround(this);
    this.pointer = new Pointer(this);
    this.keyboard = new Keyboard(this);
    this.labels = new Labels(this);
    this.controls = new Controls(this);
    this.tooltip = new Tooltip(this);
    this.tiles = new Tiles(this);
    this.paper = new Paper(this);
    this.present = new Present(this);
    this.root.append(this.status, this.corner);
    this.resize = new ResizeObserver(() => this.sight.fit());
    this.resize.observe(this.root);
    this.deck = this.drawnBy(flat);
    this.root.__dpviz = this; // for tests
  }

  drawnBy({deck}) {
    const made = new deck.Deck({
      parent: this.canvasHost, width: '100%', height: '100%', deviceProps: {type: 'webgl'}, touchAction: 'pan-y',
      style: {position: 'absolute', opacity: '0'}, // seen once it has the map's size
      views: new deck.MapView({id: 'main'}), viewState: this.camera ?? {longitude: 0, latitude: 0, zoom: 1}, layers: [],
      onViewStateChange: ({viewState}) => this.sight.moved(viewState),
      onAfterRender: () => this.rendered(made),
      onError: error => console.warn('dpviz map:', error.message),
    });
    return made;
  }

  /**
   * Draws with deck.gl from now on: `gl` is {deck, converter}, with a converter that knows the layers.
   * The flat picture stays until deck.gl's first one is whole.
   */
  take(gl) {
    this.flat = this.deck;
    this.gl = gl;
    this.deck = this.drawnBy(gl);
    this.bound.kept.clear();
    if (!this.sceneSpec) return;
    this.bound.again();
    this.render();
  }

  /** In pixels, of a window of usual size; a host says it first of all. Chromium keeps the place of a map as high as it was first laid out. */
  setHeight(pixels) {
    this.frame.style.setProperty('--map-height', `${pixels}px`);
    this.frame.style.setProperty('--map-share', pixels / USUAL);
  }

  /** Stays flat, and says why: the flat picture is the last one. */
  stayFlat() {
    this.staysFlat = true;
    this.render();
    this.frame.append(h('p', {class: 'notice', role: 'status'}, 'This browser draws without WebGL: move the map with its buttons or the arrow keys.'));
  }

  destroy() {
    this.gone = true;
    this.pointer.destroy();
    this.present.destroy();
    this.paper.destroy();
    this.sight.tell.cancel();
    this.player?.play(false);
    this.resize.disconnect();
    this.deck.finalize();
    this.flat?.finalize();
    this.frame.remove();
  }

  /** Reads the page's theme again; Streamlit calls at every change of it. */
  takeTheme() {
    const dark = !this.paper.on && isDark(this.root);
    const changed = dark !== this.dark;
    this.dark = dark;
    this.frame.classList.toggle('dark', dark);
    this.root.classList.toggle('dark', dark);
    if (changed) this.bound.again();
    this.dress();
  }

  get themeName() {
    return this.dark ? 'dark' : 'light';
  }

  get theme() {
    return this.themes?.[this.themeName] ?? PLAIN_THEME;
  }

  get accent() {
    if (this.sceneSpec?.neutral) return this.theme.text;
    return this.theme.accents[this.view.palette] ?? this.theme.accents.tide;
  }

  /** Colours that the style sheet needs, the strip, the map. */
  dress() {
    this.frame.style.setProperty('--land', css(this.theme.land));
    this.frame.style.setProperty('--accent', css(this.accent));
    this.showLegend();
    this.render();
  }

  /** What explains the map now. */
  get legend() {
    const legend = this.overlayLegend ?? this.legendSpec;
    return this.view.smooth && legend?.palettes ? {...legend, blank: `${legend.blank}; smoothed for display`} : legend;
  }

  showLegend() {
    const {legend} = this;
    const {lock} = this.sceneSpec ?? {};
    const {palette, raw} = this.view;
    const element = legendElement(legend, {palette, mode: this.themeName, raw, land: this.theme.land});
    const box = typeof lock === 'boolean' && !this.overlayLegend ? [lockBox(lock, on => this.emit('scale', on ? this.scene.find(isClassed).props.bounds : false))] : [];
    this.attribution.textContent = this.tiles.shown ? this.tiles.spec.attribution : this.credit;
    this.strip.replaceChildren(...element ? [element, ...box] : []);
    this.strip.hidden = !element;
  }

  // --- from the host: JSON, and columns as wire.js has them

  showScene(spec, columns) {
    this.sceneSpec = spec;
    this.themes = spec.theme;
    this.bound.take('scene', spec, columns);
    this.tools = spec.tools ?? [];
    const maps = spec.labels ?? [];
    const refit = this.mode !== (spec.mode ?? 'single') || this.names?.length !== maps.length; // maps grow narrower
    this.mode = spec.mode ?? 'single';
    if (this.view.asked !== Boolean(spec.raw)) this.view.raw = this.view.asked = Boolean(spec.raw);
    this.title = spec.title || '';
    this.credit = spec.credit || '';
    this.frame.dataset.title = this.title;
    this.sceneTooltips = spec.tooltips ?? {};
    this.tooltips = {...this.sceneTooltips, ...this.overlayTooltips};
    this.interval = spec.interval;
    this.picks = Boolean(spec.picks);
    this.root.setAttribute('aria-label', spec.label ?? 'Map');
    this.domain = spec.domain;
    this.sight.ask(spec.camera, refit);
    this.controls.update(spec);
    this.names = maps;
    this.labels.update(this.mode, this.names, this.panes()); // the camera keeps clear of them
    this.film.update(spec.film ?? null, spec.clock ?? null);
    this.tiles.update(spec.tiles ?? null);
    this.legendSpec = spec.legend;
    this.counter += 1;
    this.pending = true;
    this.dress();
    this.sight.fit();
  }

  showOverlay(spec, columns) {
    this.bound.take('overlay', spec, columns);
    this.overlayTooltips = spec.tooltips ?? {};
    this.tooltips = {...this.sceneTooltips, ...this.overlayTooltips};
    this.overlayLegend = spec.legend ?? null; // in place of the scene's, which it hides
    this.showLegend();
    const push = spec.shape; // {seq, value}: each number is applied once, so a later drawing is not undone
    if (push.seq !== this.shapeSeq) {
      this.shapeSeq = push.seq;
      this.shape = push.value;
      this.root.dataset.shape = JSON.stringify(push.value);
    }
    this.render();
  }

  get camera() {
    return this.sight.camera;
  }

  /** Of the map, in pixels of the page. */
  size() {
    return {width: this.root.clientWidth, height: this.root.clientHeight};
  }

  // --- drawing

  setTool(tool) {
    if (tool && !this.tools.includes(tool)) return false;
    this.tool = tool;
    this.keyboard.reset();
    this.pointer.ring = null;
    this.status.textContent = tool ? hintOf(tool) : '';
    if (tool) this.root.focus({preventScroll: true});
    this.render();
    return true;
  }

  crosshair(at) {
    this.labels.crosshair(at);
  }

  finish(shape) {
    this.setTool(null);
    this.setShape(shape);
  }

  /** What was last finished, in place of what is being drawn: the answer beside the map is its. */
  restore() {
    this.shape = JSON.parse(this.root.dataset.shape ?? 'null');
  }

  clear() {
    if (!this.shape) return false;
    this.setShape(null);
    return true;
  }

  setShape(shape) {
    this.shape = shape;
    this.status.textContent = description(shape);
    this.root.dataset.shape = JSON.stringify(shape);
    this.render();
    this.emit('shape', shape);
  }

  /** A click at a pixel of the map: what lies within a few pixels of it goes to the host. */
  clicked(x, y) {
    if (!this.picks || this.tool) return;
    const mark = this.hit([x, y], REACH);
    if (!mark) return;
    const [lon, lat] = this.sight.unproject([x, y]);
    this.trigger('pick', {layer: mark.layer.id, index: mark.index, lon, lat});
  }

  /** The object {layer, index} at a pixel of the map, or so near to it; null for none. */
  hit([x, y], reach = 0) {
    const viewport = this.sight.viewportOf([x, y]);
    if (!viewport) return null;
    return hit(this.deck.props.layers.filter(layer => this.isIn(viewport, layer)), viewport, [x - viewport.x, y - viewport.y], reach);
  }

  /** The pointer is at a pixel of the map, or has left it (null): the tooltip follows, once a picture. */
  hover(at) {
    this.pointed = at;
    this.looking ??= requestAnimationFrame(() => {
      this.looking = null;
      if (this.gone) return;
      const mark = this.pointed && this.camera && !this.pointer.busy ? this.hit(this.pointed) : null;
      this.over = Boolean(mark);
      this.tooltip.show(mark, this.pointed);
    });
  }

  // --- the picture

  render() {
    if (!this.camera) return;
    const {MapView} = this.gl.deck;
    const busy = this.tool || this.pointer.drag || this.pointer.oneFinger;
    const controller = {dragPan: !busy, doubleClickZoom: !busy, dragRotate: false, touchRotate: false, keyboard: false};
    const side = this.mode === 'side';
    const panes = this.panes();
    const views = panes.map(pane => new MapView({...pane, controller}));
    const viewState = Object.fromEntries(panes.map(({id}) => [id, this.camera]));
    this.flat?.setProps({viewState}); // seen until deck.gl's first picture
    this.deck.setProps({
      views, viewState, layers: this.layers(),
      layerFilter: ({layer, viewport}) => this.isIn(viewport, layer),
      getCursor: ({isDragging}) => this.tool ? 'crosshair' : isDragging ? 'grabbing' : this.picks && this.over ? 'pointer' : 'grab',
    });
    this.root.classList.toggle('drawing', Boolean(this.tool));
    this.root.classList.toggle('halves', side);
    this.labels.update(this.mode, this.names, panes);
    this.controls.refresh();
    this.moveHandles();
  }

  /** Whether a layer is of a viewport's map: one without a side is of all. */
  isIn(viewport, {props}) {
    return this.mode !== 'side' || props.side === undefined || props.side === null || String(props.side) === viewport.id;
  }

  /** Places of the maps: beside each other; on a narrow page more than two stand in rows of two. */
  panes() {
    const count = this.mode === 'side' ? this.names.length : 1;
    const columns = count > 2 && this.root.clientWidth <= NARROW ? 2 : count;
    const rows = Math.ceil(count / columns);
    return Array.from({length: count}, (_, i) => {
      const inRow = Math.min(columns, count - columns * Math.floor(i / columns)); // a last one alone takes its row
      return {id: String(i), x: `${i % columns * 100 / inRow}%`, y: `${Math.floor(i / columns) * 100 / rows}%`, width: `${100 / inRow}%`, height: `${100 / rows}%`};
    });
  }

  layers() {
    return drawnLayers(this);
  }

  /** Outlines the cells of a merged area, {origin, boxes}; null for none. */
  outline(area) {
    if (!area?.boxes.length && !this.hovered) return;
    this.hovered = area?.boxes.length ? area : null;
    this.surround.draw();
  }

  moveHandles() {
    const viewports = this.camera ? this.sight.viewports : [];
    this.labels.moveHandles(this.tool ? null : this.shape, viewports);
  }

  /** Marks the element once everything asked for is on the screen; tests and timings wait for it. */
  rendered(by) {
    this.moveHandles();
    this.surround.draw();
    this.film.drawn();
    // deck.gl's first pictures have the size of a new canvas, and would be scaled to the map's.
    const scaled = Math.abs(by.width - this.size().width) >= 1;
    if (!scaled && !by.isFlat) Object.assign(by.canvas, {tabIndex: -1}).style.opacity = '1'; // the map around it takes the keys
    if (scaled || by !== this.deck || !this.pending || !by.props.layers.every(layer => layer.isLoaded)) return;
    this.root.dataset.painted = this.counter; // by whichever of the two
    if (by.isFlat && !this.staysFlat) return;
    this.pending = false;
    if (this.flat) {
      this.flat.finalize();
      this.flat = null;
      this.moveHandles(); // over deck.gl's picture, which may have another size
    }
    this.surround.draw(); // a flat one that never drew has no camera
    this.paper.drawn();
    this.root.dataset.rendered = this.counter;
  }

  savePicture() {
    return savePicture(this);
  }
}
