/** The app's map without a server; it answers rectangles itself. It shows one release, two, or a series. */
import {added, answerElement, answerTable, nodeRings, quotientWords, rangeCount, shareOf} from '../answer/answer.js';
import {MapApp} from '../core/app.js';
import {h} from '../core/dom.js';
import {Player} from '../core/player.js';
import {Regions} from '../answer/regions.js';
import {cellColumns, links} from '../draw/tree.js';

const MAX_OUTLINED = 2000; // more outlines would cover the map
const MODES = {swipe: 'Swipe', side: 'Side by side', difference: 'Difference'};
const MAYBE = ['nonnegative', 'assumed', 'sum', 'sum_variance'];
const TREE = ['lo', 'hi', 'n_children', 'count', 'variance', 'kind', 'since', 'until', 'back', 'merged_sd'];

export class Viewer {
  /** `places` has the elements {map, modes, hint, answer, total}; `style` is the map's style sheet as text; `gl` is null for a flat map. */
  constructor(places, spec, columns, gl) {
    this.places = places;
   this.onChange = () => {}; // set by the host: called with ('shape' or 'camera', value)
    this.spec = spec;
    this.columns = columns;
    this.domain = {...spec.domainBox, side: spec.side};
    this.views = spec.views ?? []; // maps of something other than densities: shares, means, levels of areas
    this.regions = spec.areas && new Regions(spec.areas, columns, this.domain);
    this.trees = spec.trees.map(({name, roots, noise, coherence = 0}) => {
      const wanted = [...TREE, ...MAYBE.filter(column => columns[`${name}.${column}`])];
      const tree = Object.fromEntries(wanted.map(column => [column, columns[`${name}.${column}`].value]));
      const {first, level, parent} = links(tree.n_children, roots);
      return {roots, noise, coherence, ...tree, first_child: first, level, parent};
    });
    this.pushed = 0;
    this.shape = null;
    const count = spec.names.length;
    this.shown = {a: count > 2 && !spec.chooser && !spec.ends.length ? Math.floor((count - 1) / 2) : 0, b: count === 2 && !spec.chooser ? 1 : null, mode: 'swipe', view: spec.view ?? null};
    const shadow = places.map.attachShadow({mode: 'open'});
    shadow.append(h('style', {}, places.style));
    this.app = new MapApp(shadow);
    this.app.setHeight(spec.height);
    if (gl) this.app.take(gl);
    else this.app.stayFlat();
    this.app.emit = (what, value) => {
      if (what === 'shape') this.asked(value);
      this.onChange(what, value);
    };
    this.app.takeTheme();
    this.buttons();
    this.show();
  }

  /** Indices of the releases on the map, one or two. */
  get now() {
    const {a, b} = this.shown;
    return b === null ? [a] : [a, b];
  }

  /** The scene to draw. */
  scene() {
    const {spec, now} = this;
    const view = this.views[this.shown.view];
    const apart = !view && now.length === 2 && this.shown.mode === 'difference'; // one map, of A − B
    const mode = now.length === 1 || apart || view ? 'single' : this.shown.mode;
    const wanted = view ? view.frames?.[this.shown.a] ?? view.layers : apart ? ['difference'] : now.map(at => `cells-${at}`);
    const loaded = id => this.columns[`${id}.bounds`]; // a map stays on the card once loaded, so that returning to it uploads nothing
    const isMap = id => id === 'difference' || id.startsWith('cells-') || this.views.some(each => each.layers.includes(id));
    const layers = spec.layers.filter(({id}) => !isMap(id) || wanted.includes(id) || loaded(id)).map(layer => {
      if (isMap(layer.id) && !wanted.includes(layer.id)) return {...layer, visible: false};
      const side = mode !== 'single' && wanted.indexOf(layer.id);
      return side === false || side < 0 ? layer : {...layer, side};
    });
    const labels = view?.frames?.length > 1 ? [spec.names[this.shown.a]] : !apart && !view && (now.length === 2 || spec.names.length > 2) ? now.map(at => spec.names[at]) : [];
    const legend = apart ? spec.contrast : view ? view.legend : spec.legend;
    return {...spec, layers, mode, labels, neutral: view ? view.neutral : apart, legend, ...view ? {levels: 0} : {}};
  }

  show() {
    for (const at of this.now) this.derive(at);
    this.app.showScene(this.scene(), this.columns);
    if (this.player) {
      this.player.at = this.shown.a;
      this.player.tell();
    }
    this.tellTotal();
    this.asked(this.shape);
  }

  /** Writes the noisy total of the releases on the map, if the page has a place for it. */
  tellTotal() {
    const {totals, records, names, ends} = this.spec;
    if (!this.places.total || !totals?.length) return;
    const words = this.now.flatMap((at, row) => [row ? ' · ' : '', this.now.length > 1 ? `${names[at]}: ` : '', h('strong', {}, totals[at])]);
    this.places.total.replaceChildren(...words, ` ${records}`, this.now.length === 1 && ends.length ? `, ${names[this.shown.a]}` : '');
  }

  /** Derives the cells of a release when it is first shown. */
  derive(at) {
    const id = `cells-${at}`;
    if (!this.trees[at] || this.columns[`${id}.bounds`]) return;
    const {origin} = this.spec.layers.find(layer => layer.id === id);
    for (const [name, column] of Object.entries(cellColumns(this.trees[at], this.domain, origin))) this.columns[`${id}.${name}`] = column;
  }

  set(change) {
    Object.assign(this.shown, change);
    this.show();
    this.refresh();
  }

  /** Builds the slider of a series, the choice of a release to compare with, and the modes of comparison. */
  buttons() {
    const {names, epsilons} = this.spec;
    const inTime = this.spec.ends.length > 0;
    const ends = inTime ? this.spec.ends : [`ε ${epsilons[0]}`, `${epsilons.at(-1)}`];
    const place = this.places.modes;
    if (this.spec.chooser) place.append(this.chooser());
    const framed = this.views.some(({frames}) => frames?.length > 1);
    if (names.length > 1 && this.spec.chooser && !framed) place.append(this.other());
    else if (names.length > 2 || framed) {
      this.player = this.app.player = new Player(names, at => this.set({a: at}), {at: this.shown.a, ends, what: inTime ? 'Step' : 'Release', test: 'dpviz-series'});
      place.append(...framed ? [this.player.element] : [this.player.element, this.other()]);
    }
    const modes = Object.entries(MODES).filter(([mode]) => mode !== 'difference' || this.spec.contrast);
    this.modes = names.length < 2 ? [] : modes.map(([mode, text]) => h('button', {
      type: 'button', 'data-mode': mode, onclick: () => this.set({mode}),
    }, text));
    place.append(...this.modes);
    this.refresh();
  }

  /** The choice of what the map shows: a release, or another view. */
  chooser() {
    const {chooser, names} = this.spec;
    const maps = this.trees.length || !this.views.length ? names : [];
    const of = (value, text) => h('option', {value}, text);
    this.select = h('select', {'aria-label': chooser, 'data-testid': 'dpviz-chooser', onchange: () => {
      const [kind, at] = this.select.value.split(':');
      this.set(kind === 'view' ? {view: Number(at), b: null} : {view: null, a: Number(at)});
    }}, ...maps.map((name, at) => of(`map:${at}`, name)), ...this.views.map(({name}, at) => of(`view:${at}`, name)));
    return h('label', {class: 'chooser'}, h('span', {}, chooser), this.select);
  }

  /** The choice of a release to compare with. */
  other() {
    const select = this.compare = h('select', {'aria-label': 'Compare with', 'data-testid': 'dpviz-compare',
      onchange: () => this.set({b: select.value === '' ? null : Number(select.value)})},
    h('option', {value: ''}, 'Compare with …'), ...this.spec.names.map((name, at) => h('option', {value: at}, name)));
    return select;
  }

  refresh() {
    const {a, b, view} = this.shown;
    if (this.select) {
      this.select.value = view === null ? `map:${a}` : `view:${view}`;
      if (this.compare) [this.compare.hidden, this.compare.value] = [view !== null, b ?? ''];
    }
    for (const button of this.modes) {
      button.hidden = this.shown.b === null;
      button.setAttribute('aria-pressed', String(button.dataset.mode === this.shown.mode));
    }
  }

  /** Sets a rectangle from outside the map and answers it; null clears it. */
  push(rect) {
    this.pushed += 1;
    this.asked(rect && {kind: 'rect', rect});
  }

  /** Answers a shape; null clears it. Without trees (a domain not in degrees) the shape is only shown. */
  asked(shape) {
    this.shape = shape;
    const whole = !shape && this.spec.ends.length > 0; // a release by time shows the timeline of the whole area
    const rect = whole ? [...this.domain.lower, ...this.domain.upper] : shape?.rect;
    const answers = rect && (this.trees.length || this.regions) ? this.answers(rect) : null;
    const shown = shape && answers && this.now.map(at => answers[at]);
    this.app.showOverlay({...this.outlines(shown), shape: {seq: this.pushed, value: shape}}, {});
    this.places.hint.hidden = Boolean(shape && answers);
    const {names, interval, values, chooser, kinds, whole: wholes = 0} = this.spec;
    const shares = kinds && answers && !answers.includes(null) ? answers.map(each => each === answers[0] ? '' : quotientWords(shareOf(each, answers.slice(1), interval), true)) : [];
    const caption = this.spec.ends.length ? 'Step by step' : chooser ? 'Count of each, and its share of all' : undefined;
    const said = !answers ? [] : answers.includes(null)
      ? [h('p', {}, 'This rectangle lies outside the area: draw one inside the frame.')]
      : [...whole ? [h('h2', {class: 'small'}, 'The whole area')] : this.now.map(at => answerElement(names[at], answers[at], interval, values)),
        ...names.length > 2 ? [answerTable(names, answers, interval, this.now, at => this.set(this.regions ? {a: at} : {a: at, view: null}), caption, shares, wholes)] : []];
    this.places.answer.replaceChildren(...said);
  }

  answers(rect) {
    const {interval, kinds} = this.spec;
    if (this.regions) return this.regions.counts(rect, interval);
    const found = this.trees.map(tree => rangeCount(tree, rect, this.domain, interval));
    return kinds ? [added(found.slice(1), interval), ...found.slice(1)] : found; // the first map is the sum of all categories
  }

  /** Outlines of the nodes that gave the answer, on a single map. */
  outlines(answers) {
    const made = this.regions || this.spec.kinds && !this.shown.a; // the answer used no cells of this map
    const used = (!made && answers?.length === 1 && answers[0]?.used) || [];
    if (!used.length || used.length > MAX_OUTLINED) return {layers: []};
    return {layers: [{
      '@@type': 'PathLayer', id: 'used', data: nodeRings(this.trees[this.shown.a], used, this.domain), getPath: '@@=-',
      getColor: [...this.app.accent, 130], getWidth: 1, widthUnits: 'pixels',
    }]};
  }
}
