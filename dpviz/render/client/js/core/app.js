/**
 * One map on the page: its state and views, and the events that it sends to its host (the app, a file, a notebook).
 *
 * The host sends two things. The *scene* (layers, columns, legend, camera) changes when there is
 * something else to look at. The *overlay* (highlighted cells, a shape set by the host) is small and
 * changes with every answer; it has its own mount so that the scene need not be sent again.
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
import {css} from './palette.js';
import {Paper} from '../draw/paper.js';
import {Pointer} from '../input/pointer.js';
import {Present} from './present.js';
import {description} from '../input/shapes.js';
import {NARROW, Sight} from './sight.js';
import {Surround} from '../draw/surround.js';
import {Tiles} from '../draw/tiles.js';
import {Tooltip} from '../draw/tooltip.js';

const DEFAULT_HEIGHT = 560; // pixels, in a window of usual size
const HIT_PIXELS = 5; // a click this near hits a mark: lines are thin
const PLAIN_THEME = { // until a scene brings its own theme
  land: [246, 244, 239], water: [219, 228, 234], shore: [159, 177, 190], frame: [139, 145, 153], text: [44, 49, 56],
  halo: [255, 255, 255], hatch: [125, 97, 197], accents: {tide: [194, 65, 12]},
};

export class MapApp {
  /** Draws on a 2-D canvas until `take` brings deck.gl. */
  constructor(parent) {
    this.gl = flat;
    this.root = h('div', {class: 'map', tabindex: 0, role: 'application', 'aria-roledescription': 'map', 'data-testid': 'dpviz-map'});
    this.canvasHost = h('div', {class: 'canvas'});
    this.root.append(this.canvasHost);
    this.strip = h('div', {class: 'strip', hidden: true});
    this.film = new Film(this);
    this.heads = h('div', {class: 'heads', role: 'group', 'aria-label': 'Maps', hidden: true, 'data-testid': 'dpviz-heads'});
    this.frame = h('div', {class: 'frame'}, this.heads, this.root, this.film.element, this.strip);
    parent.append(this.frame);
    Object.assign(this, {
      player: null, scene: [], overlay: [], tooltips: {}, tools: [], mode: 'single',
      shape: null, draft: null, tool: null, split: 0.5, front: 0, emit: () => {}, trigger: () => {},
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
      style: {position: 'absolute', opacity: '0'}, // visible once it has the map's size
      views: new deck.MapView({id: 'main'}), viewState: this.camera ?? {longitude: 0, latitude: 0, zoom: 1}, layers: [],
      onViewStateChange: ({viewState}) => this.sight.moved(viewState),
      onAfterRender: () => this.rendered(made),
      onError: error => console.warn('dpviz map:', error.message),
    });
    return made;
  }

  /**
   * Draws with deck.gl from now on: `gl` is {deck, converter}, with a converter that knows the layers.
   * The flat picture stays until deck.gl's first picture is complete.
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

  /** Height in pixels, in a window of usual size. A host calls it first: Chromium keeps the height of the first layout. */
  setHeight(pixels) {
    this.frame.style.setProperty('--map-height', `${pixels}px`);
    this.frame.style.setProperty('--map-share', pixels / DEFAULT_HEIGHT);
  }

  /** Keeps the 2-D canvas, and shows why. */
  stayFlat() {
    this.staysFlat = true;
    this.render();
    this.frame.append(h('p', {class: 'notice', role: 'status'}, 'This browser has no WebGL: move the map with its buttons or the arrow keys.'));
  }

  destroy() {
    this.gone = true;
    this.pointer.destroy();
    this.present.destroy();
    this.paper.end.abort();
    this.sight.tell.cancel();
    this.player?.play(false);
    this.resize.disconnect();
    this.deck.finalize();
    this.flat?.finalize();
    this.frame.remove();
  }

  /** Reads the page's theme again; Streamlit calls it at every change of theme. */
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

  /** Applies colours to style sheet, legend and map. */
  dress() {
    this.frame.style.setProperty('--land', css(this.theme.land));
    this.frame.style.setProperty('--accent', css(this.accent));
    this.showLegend();
    this.render();
  }

  /** The current legend. */
  get legend() {
    const legend = this.overlayLegend ?? this.legendSpec;
    return this.view.smooth && legend?.palettes ? {...legend, blank: `${legend.blank}; smoothed for display`} : legend;
  }

  /** Zoom for which the legend has circles: the paper's while it prints. */
  get legendZoom() {
    return this.paper.zoom ?? this.camera?.zoom;
  }

  showLegend() {
    this.legendFor = this.legendZoom;
    const {legend} = this;
    const {lock} = this.sceneSpec ?? {};
    const {palette, raw} = this.view;
    const element = legendElement(legend, {palette, mode: this.themeName, raw, land: this.theme.land, zoom: this.legendZoom});
    const box = typeof lock === 'boolean' && !this.overlayLegend ? [lockBox(lock, on => this.emit('scale', on ? this.scene.find(isClassed).props.bounds : false))] : [];
    this.attribution.textContent = this.tiles.shown ? this.tiles.spec.attribution : this.credit;
    this.strip.replaceChildren(...element ? [element, ...box] : []);
    this.strip.hidden = !element;
  }

  // --- from the host: JSON, and columns in the form of wire.js

  showScene(spec, columns) {
    this.sceneSpec = spec;
    this.themes = spec.theme;
    this.bound.take('scene', spec, columns);
    this.tools = spec.tools ?? [];
    const maps = spec.labels ?? [];
    const refit = this.mode !== (spec.mode ?? 'single') || this.names?.length !== maps.length; // several maps are narrower: fit the camera again
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
    this.front = Math.min(this.front, Math.max(maps.length - 1, 0));
    this.labels.update(this.mode, this.names, this.panes()); // first: the camera leaves room for the labels
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
    this.overlayLegend = spec.legend ?? null; // replaces the scene's legend
    this.showLegend();
    const push = spec.shape; // {seq, value}: each seq is applied once, so a later drawing is not undone
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

  /** Size of the map in pixels of the page. */
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

  finish(shape) {
    this.setTool(null);
    this.setShape(shape);
  }

  /** Drops an unfinished shape for the last finished one, which the answer beside the map belongs to. */
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

  /** Sends the host the object within a few pixels of a click. */
  clicked(x, y) {
    if (!this.picks || this.tool) return;
    const mark = this.hit([x, y], HIT_PIXELS);
    if (!mark) return;
    const [lon, lat] = this.sight.unproject([x, y]);
    this.trigger('pick', {layer: mark.layer.id, index: mark.index, lon, lat});
  }

  /** The object {layer, index} within `reach` pixels of a pixel; null for none. */
  hit([x, y], reach = 0) {
    const viewport = this.sight.viewportOf([x, y]);
    if (!viewport) return null;
    return hit(this.deck.props.layers.filter(layer => this.isIn(viewport, layer)), viewport, [x - viewport.x, y - viewport.y], reach);
  }

  /** Moves the tooltip to the pointer, once per frame; null means that the pointer has left the map. */
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

  // --- drawing each frame

  render() {
    if (!this.camera) return;
    const {MapView} = this.gl.deck;
    const busy = this.tool || this.pointer.drag || this.pointer.oneFinger;
    const controller = {dragPan: !busy, doubleClickZoom: !busy, dragRotate: false, touchRotate: false, keyboard: false};
    const panes = this.panes();
    const views = panes.map(pane => new MapView({...pane, controller}));
    const viewState = Object.fromEntries(panes.map(({id}) => [id, {...this.camera, minZoom: this.sight.least, normalize: this.sight.least >= 0}])); // deck.gl's own bounds keep the Earth as high as the map
    this.flat?.setProps({viewState}); // visible until deck.gl's first picture
    this.deck.setProps({
      views, viewState, layers: this.layers(),
      layerFilter: ({layer, viewport}) => this.isIn(viewport, layer),
      getCursor: ({isDragging}) => this.tool ? 'crosshair' : isDragging ? 'grabbing' : this.picks && this.over ? 'pointer' : 'grab',
    });
    this.root.classList.toggle('drawing', Boolean(this.tool));
    this.labels.update(this.mode, this.names, panes);
    this.controls.refresh();
    this.moveHandles();
    if (this.legend?.circles && this.legendFor !== this.legendZoom && !this.saving) this.showLegend();
  }

  /** True if a viewport shows a layer; one without a side belongs to all viewports. */
  isIn(viewport, {props}) {
    return this.mode !== 'side' || props.side === undefined || props.side === null || String(props.side) === viewport.id;
  }

  /** Positions of the maps: side by side, by their numbers; a narrow window shows one at a time. */
  panes() {
    const count = this.mode === 'side' ? this.names.length : 1;
    if (this.isAlone) return [{id: String(this.front), x: '0%', y: '0%', width: '100%', height: '100%'}];
    return Array.from({length: count}, (_, i) => ({id: String(i), x: `${i * 100 / count}%`, y: '0%', width: `${100 / count}%`, height: '100%'}));
  }

  /** Whether one of several maps is shown at a time. */
  get isAlone() {
    return this.mode === 'side' && this.names.length > 1 && window.innerWidth <= NARROW;
  }

  /** Shows another one of the maps that are shown one at a time. */
  bringToFront(number) {
    this.front = number;
    this.render();
  }

  layers() {
    return drawnLayers(this);
  }

  /** Outlines the cells of a merged area, {origin, boxes}; null removes the outline. */
  outline(area) {
    if (!area?.boxes.length && !this.hovered) return;
    this.hovered = area?.boxes.length ? area : null;
    this.surround.draw();
  }

  moveHandles() {
    const viewports = this.camera ? this.sight.viewports : [];
    this.labels.moveHandles(this.tool ? null : this.shape, viewports);
  }

  /** Runs after each picture; marks the element once everything requested is on the screen. Tests and timings wait for that. */
  rendered(by) {
    this.moveHandles();
    this.surround.draw();
    this.film.drawn();
    // deck.gl's first pictures have the size of a new canvas, and would be scaled to the map's.
    const scaled = Math.abs(by.width - this.size().width) >= 1;
    if (!scaled && !by.isFlat) Object.assign(by.canvas, {tabIndex: -1}).style.opacity = '1'; // the focus belongs to the map's own element
    if (scaled || by !== this.deck || !this.pending || !by.props.layers.every(layer => layer.isLoaded)) return;
    this.root.dataset.painted = this.counter; // the 2-D canvas or deck.gl
    if (by.isFlat && !this.staysFlat) return;
    this.pending = false;
    if (this.flat) {
      this.flat.finalize();
      this.flat = null;
      this.moveHandles(); // deck.gl's picture may have another size
    }
    this.surround.draw(); // a flat picture that was never drawn has no camera
    this.paper.drawn();
    this.root.dataset.rendered = this.counter;
  }
}
