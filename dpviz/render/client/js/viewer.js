/** The app's map without a server, answering rectangles by itself: one release, two, or a series. */
import {answerElement, answerTable, nodeRings, rangeCount} from './answer.js';
import {MapApp} from './app.js';
import {h} from './dom.js';
import {Player} from './player.js';
import {cellColumns, links} from './tree.js';

const OUTLINED = 2000; // more nodes would be a grey sheet
const MODES = {swipe: 'Swipe', side: 'Side by side', difference: 'Difference'};
const TREE = ['lo', 'hi', 'n_children', 'count', 'variance', 'kind', 'since', 'until', 'back', 'merged_sd'];

export class Viewer {
  /** `places` has the elements {map, modes, hint, answer}; `style`, the map's own sheet as text; `shy`, see MapApp. */
  constructor(places, spec, columns, gl) {
    this.places = places;
    this.heard = () => {}; // whoever wants to know: ('shape' or 'camera', value)
    this.spec = spec;
    this.columns = columns;
    this.domain = {...spec.domainBox, side: spec.side};
    this.trees = spec.trees.map(({name, roots, noise, coherence = 0}) => {
      const tree = Object.fromEntries(TREE.map(column => [column, columns[`${name}.${column}`].value]));
      const {first, level, parent} = links(tree.n_children, roots);
      return {roots, noise, coherence, ...tree, first_child: first, level, parent};
    });
    this.pushed = 0;
    this.shape = null;
    const count = spec.names.length;
    this.shown = {a: count > 2 ? Math.floor((count - 1) / 2) : 0, b: count === 2 ? 1 : null, mode: 'swipe'};
    const shadow = places.map.attachShadow({mode: 'open'});
    shadow.append(h('style', {}, places.style));
    this.app = new MapApp(shadow, gl, places.shy);
    this.app.emit = (what, value) => {
      if (what === 'shape') this.asked(value);
      this.heard(what, value);
    };
    this.app.takeTheme();
    this.buttons();
    this.show();
  }

  /** The releases on the map now, one or two. */
  get now() {
    const {a, b} = this.shown;
    return b === null ? [a] : [a, b];
  }

  show() {
    const {spec, now} = this;
    const apart = now.length === 2 && this.shown.mode === 'difference'; // one map, of A − B
    const mode = now.length === 1 || apart ? 'single' : this.shown.mode;
    const wanted = apart ? ['difference'] : now.map(at => `cells-${at}`);
    for (const at of now) this.derive(at);
    const loaded = id => this.columns[`${id}.bounds`]; // once on the card a map stays there: a step back uploads nothing
    const isMap = id => id === 'difference' || id.startsWith('cells-');
    const layers = spec.layers.filter(({id}) => !isMap(id) || wanted.includes(id) || loaded(id)).map(layer => {
      if (isMap(layer.id) && !wanted.includes(layer.id)) return {...layer, visible: false};
      const side = wanted.length === 2 && wanted.indexOf(layer.id);
      return side === false || side < 0 ? layer : {...layer, side: side ? 'right' : 'left'};
    });
    const labels = !apart && (now.length === 2 || spec.names.length > 2) ? now.map(at => spec.names[at]) : [];
    this.app.showScene({...spec, layers, mode, labels, neutral: apart, legend: apart ? spec.contrast : spec.legend}, this.columns);
    if (this.player) {
      this.player.at = this.shown.a;
      this.player.tell();
    }
    this.asked(this.shape);
  }

  /** The cells of one release, when they are first looked at. */
  derive(at) {
    const id = `cells-${at}`;
    if (this.columns[`${id}.bounds`] || !this.trees[at]) return;
    const {origin} = this.spec.layers.find(layer => layer.id === id);
    const found = cellColumns(this.trees[at], this.domain, origin);
    for (const [name, column] of Object.entries(found)) this.columns[`${id}.${name}`] = column;
  }

  set(change) {
    Object.assign(this.shown, change);
    this.show();
    this.refresh();
  }

  /** A slider over a series; what to compare with, and how. */
  buttons() {
    const {names, epsilons} = this.spec;
    const ends = this.spec.ends.length ? this.spec.ends : [`ε ${epsilons[0]}`, `${epsilons.at(-1)}`];
    const place = this.places.modes;
    if (names.length > 2) {
      this.player = this.app.player = new Player(names, at => this.set({a: at}), {at: this.shown.a, ends, what: 'Release', test: 'dpviz-series'});
      const select = h('select', {'aria-label': 'Compare with', 'data-testid': 'dpviz-compare',
        onchange: () => this.set({b: select.value === '' ? null : Number(select.value)})},
      h('option', {value: ''}, 'Compare with …'), ...names.map((name, at) => h('option', {value: at}, name)));
      place.append(this.player.element, select);
    }
    const modes = Object.entries(MODES).filter(([mode]) => mode !== 'difference' || this.spec.contrast);
    this.modes = names.length < 2 ? [] : modes.map(([mode, text]) => h('button', {
      type: 'button', 'data-mode': mode, onclick: () => this.set({mode}),
    }, text));
    place.append(...this.modes);
    this.refresh();
  }

  refresh() {
    for (const button of this.modes) {
      button.hidden = this.shown.b === null;
      button.setAttribute('aria-pressed', String(button.dataset.mode === this.shown.mode));
    }
  }

  /** Sets a rectangle from outside of the map, null for none, and answers it. */
  push(rect) {
    this.pushed += 1;
    this.asked(rect && {kind: 'rect', rect});
  }

  /** Answers a shape, null for none; a file whose domain is not in degrees has no trees, and only shows it. */
  asked(shape) {
    this.shape = shape;
    const whole = !shape && this.spec.ends.length > 0; // in time the area has a timeline of its own
    const rect = whole ? [...this.domain.lower, ...this.domain.upper] : shape?.rect;
    const answers = rect && this.trees.length ? this.answers(rect) : null;
    const shown = shape && answers && this.now.map(at => answers[at]);
    this.app.showOverlay({...this.outlines(shown), shape: {seq: this.pushed, value: shape}}, {});
    this.places.hint.hidden = Boolean(shape && answers);
    const {names, interval} = this.spec;
    const said = !answers ? [] : answers.includes(null)
      ? [h('p', {}, 'This rectangle lies outside the area: draw one inside the frame.')]
      : [...whole ? [h('h3', {}, 'The whole area')] : this.now.map(at => answerElement(names[at], answers[at], interval)),
        ...names.length > 2 ? [answerTable(names, answers, interval, this.now, at => this.set({a: at}), this.spec.ends.length ? 'From each on' : undefined)] : []];
    this.places.answer.replaceChildren(...said);
  }

  answers(rect) {
    return this.trees.map(tree => rangeCount(tree, rect, this.domain, this.spec.interval));
  }

  /** The nodes that answered, on a single map. */
  outlines(answers) {
    const used = (answers?.length === 1 && answers[0]?.used) || [];
    if (!used.length || used.length > OUTLINED) return {layers: []};
    return {layers: [{
      '@@type': 'PathLayer', id: 'used', data: nodeRings(this.trees[this.shown.a], used, this.domain), getPath: '@@=-',
      getColor: [...this.app.accent, 130], getWidth: 1, widthUnits: 'pixels',
    }]};
  }
}
