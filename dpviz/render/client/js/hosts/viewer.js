/** The app's map without a server; it answers rectangles itself. It shows one release, two, or a series. */
import {added, answerElement, answerTable, lattice, nodeRings, quotientWords, rangeCount, shareOf} from '../answer/answer.js';
import {MapApp} from '../core/app.js';
import {h} from '../core/dom.js';
import {Player} from '../core/player.js';
import {Regions} from '../answer/regions.js';
import {boxes, cellColumns, links} from '../draw/tree.js';
import {Finder} from '../input/finder.js';

const MAX_OUTLINED = 2000; // more outlines would cover the map
const MODES = {swipe: 'Swipe', side: 'Side by side', difference: 'Difference'};
const TREE = ['lo', 'hi', 'n_children', 'count', 'variance', 'kind', 'since', 'until', 'back', 'nonnegative', 'assumed', 'sum', 'sum_variance'];

/** A box of two axes, with the start and the end of a window as the third. */
const within = ({lo, hi}, [start, end]) => ({lo: [...lo, start], hi: [...hi, end]});

export class Viewer {
  /** `places` has the elements {map, modes, hint, answer, list, total}; `style` is the map's style sheet as text; `gl` is null for a flat map. */
  constructor(places, spec, columns, gl) {
    this.places = places;
   this.onChange = () => {}; // set by the host: called with ('shape' or 'camera', value)
    this.spec = spec;
    this.columns = columns;
    this.domain = {...spec.domainBox, side: spec.side};
    this.views = spec.views ?? []; // maps of something other than densities: shares, means, levels of areas
    this.regions = spec.areas && new Regions(spec.areas, columns, this.domain);
    this.trees = spec.trees.map(tree => this.tree(tree));
    const {windows} = spec; // with time, the release's own tree answers, not the tree of a window's map
    this.windows = windows && {...windows, trees: windows.trees.map(tree => this.tree(tree))};
    this.categories = spec.names.length > 1 || this.regions ? spec.categories ?? [] : []; // those with a selector of their own
    this.names = this.categories.length || !spec.categories?.length ? spec.names : spec.categories;
    this.pushed = 0;
    this.shape = null;
    const count = this.names.length;
    this.shown = {kind: 0, a: count > 2 && !spec.chooser && !spec.periods.length ? Math.floor((count - 1) / 2) : 0, b: count === 2 && !spec.chooser ? 1 : null, mode: 'swipe', view: spec.view ?? null};
    const shadow = places.map.attachShadow({mode: 'open'});
    shadow.append(h('style', {}, places.style));
    this.app = new MapApp(shadow);
    this.app.setHeight(spec.height);
    if (gl) this.app.take(gl);
    else this.app.stayFlat();
    this.app.emit = (what, value) => {
      if (what === 'shape') {
        this.finder?.clear();
        this.asked(value);
      }
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

  /** A tree's columns with links between nodes and boxes on the lattice. */
  tree({name, roots, noise, coherence = 0}) {
    const present = TREE.filter(column => this.columns[`${name}.${column}`]);
    const tree = Object.fromEntries(present.map(column => [column, this.columns[`${name}.${column}`].value]));
    const {first, level, parent} = links(tree.n_children, roots);
    return {roots, noise, coherence, ...tree, ...boxes(tree, parent), first_child: first, level, parent};
  }

  /** Number of the map of a step (or of an entry of the selector) in the chosen category. */
  map(at) {
    return this.shown.kind * this.names.length + at;
  }

  /** Label of the map `at`: its category and its step. */
  label(at) {
    const alone = this.names.length === 1;
    const category = this.shown.kind || alone ? this.categories[this.shown.kind] : '';
    return [category, alone && category ? '' : this.names[at]].filter(Boolean).join(', ');
  }

  /** The scene to draw. */
  scene() {
    const {spec, now} = this;
    const view = this.views[this.shown.view];
    const apart = !view && now.length === 2 && this.shown.mode === 'difference'; // one map, of A − B
    const mode = now.length === 1 || apart || view ? 'single' : this.shown.mode;
    const wanted = view ? view.frames?.[this.map(this.shown.a)] ?? view.layers : apart ? ['difference'] : now.map(at => `cells-${this.map(at)}`);
    const loaded = id => this.columns[`${id}.bounds`]; // a map stays on the card once loaded, so that returning to it uploads nothing
    const isMap = id => id === 'difference' || id.startsWith('cells-') || this.views.some(each => each.layers.includes(id));
    const ofWhole = now.every(at => at < spec.whole); // the whole period has classes of its own, unless it is beside a step
    const {bounds, palettes} = spec.wholeLegend && !ofWhole ? spec.layers.find(({id}) => id === 'cells-1') : {};
    const classes = bounds && {bounds, palettes};
    const layers = spec.layers.filter(({id}) => !isMap(id) || wanted.includes(id) || loaded(id)).map(layer => {
      if (isMap(layer.id) && !wanted.includes(layer.id)) return {...layer, visible: false};
      const side = mode !== 'single' && wanted.indexOf(layer.id);
      return side === false || side < 0 ? layer : {...layer, side, ...classes};
    });
    const named = view ? view.frames?.length > 1 : !apart && (now.length === 2 || this.names.length > 2);
    const labels = named ? now.map(at => this.label(at)) : [];
    const owner = view ?? spec;
    const legend = apart ? spec.contrast : ofWhole && owner.wholeLegend || owner.legend;
    return {...spec, layers, mode, labels, neutral: view ? view.neutral : apart, legend, ...view ? {levels: 0} : {}};
  }

  show() {
    for (const at of this.now) this.derive(this.map(at));
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
    const {totals, records, periods, categories} = this.spec;
    if (!this.places.total || !totals?.length) return;
    const {kind, a} = this.shown;
    const words = this.now.flatMap((at, row) => [row ? ' · ' : '', this.now.length > 1 ? `${this.label(at)}: ` : '', h('strong', {}, totals[this.map(at)])]);
    const named = this.now.length === 1 && (periods.length || kind || categories?.length && a);
    this.places.total.replaceChildren(...words, ` ${records}`, named ? `, ${this.label(a)}` : '');
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

  /** What the reader has chosen, as parameters of an address; the app's own map names them likewise. */
  get choices() {
    const {shape, spec, shown: {kind, a, view}} = this;
    const {categories = [], periods} = spec;
    return {
      rect: shape?.kind === 'rect' && !shape.name ? shape.rect.map(value => value.toFixed(6)).join() : '',
      find: shape?.name ?? '',
      period: a >= spec.whole && periods?.[a] || '',
      kind: (kind || this.names === categories && a) && categories[kind || a] || '',
      view: view === (spec.view ?? null) ? '' : this.views[view].name,
    };
  }

  /** Takes up the choices of an address; those that are not on offer are left out. */
  restore(choices) {
    const {spec: {categories = [], periods = [], view: first = null}, views} = this;
    const at = (list, name) => Math.max(list.indexOf(choices.get(name)), 0);
    const view = views.findIndex(({name}) => name === choices.get('view'));
    const kind = at(categories, 'kind');
    const listed = this.names === categories;
    if (['period', 'kind', 'view'].some(name => choices.get(name))) this.set({kind: listed ? 0 : kind, a: listed ? kind : at(periods, 'period'), view: view < 0 ? first : view});
    const rect = (choices.get('rect') ?? '').split(',').map(Number);
    if (choices.get('find')) this.finder?.choose(this.finder.names.indexOf(choices.get('find')));
    else if (rect.length === 4 && rect.every(Number.isFinite) && rect[0] < rect[2] && rect[1] < rect[3]) this.push(rect);
  }

  /** Builds the slider of a series, the choice of a release to compare with, and the modes of comparison. */
  buttons() {
    const {names, spec: {epsilons}} = this;
    const inTime = this.spec.periods.length > 0;
    const ends = inTime ? [] : [`ε ${epsilons[0]}`, `${epsilons.at(-1)}`];
    const place = this.places.modes;
    if (this.spec.chooser) place.append(this.chooser());
    if (this.categories.length) place.append(this.category());
    const framed = names.length > 1 && this.views.some(({frames}) => frames?.length > 1);
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
    if (this.spec.places) {
      this.finder = new Finder(this.spec.places, at => this.find(at));
      place.append(this.finder.element);
    }
    this.refresh();
  }

  /** Selector of the category that all steps show. */
  category() {
    const select = h('select', {'aria-label': 'Category', 'data-testid': 'dpviz-category', onchange: () => this.set({kind: Number(select.value)})},
      ...this.categories.map((name, at) => h('option', {value: at}, name)));
    return h('label', {class: 'chooser'}, h('span', {}, 'Category'), select);
  }

  /** The choice of what the map shows: a release, or another view. */
  chooser() {
    const {names, spec: {chooser}} = this;
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
    h('option', {value: ''}, 'Compare with …'), ...this.names.map((name, at) => h('option', {value: at}, name)));
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

  /** Shows a named place or area and its answer; null clears it. On a phone the answer is below the map and is scrolled to. */
  find(at) {
    const {places} = this.spec;
    if (at === null) return this.push(null);
    const name = places.names[at];
    this.pushed += 1;
    if (places.boxes) {
      this.asked({kind: 'rect', rect: places.boxes[at], name});
    } else {
      const row = places.rows[at];
      this.shape = {kind: 'area', row, name};
      this.set({view: this.regions.level(row)});
    }
    this.app.sight.home();
    this.places.answer.scrollIntoView({block: 'nearest'});
  }

  /** Answers a shape; null clears it. Without trees (a domain not in degrees) the shape is only shown. */
  asked(shape) {
    this.shape = shape;
    const {names, now, spec: {interval, values, categories, periods, whole}} = this;
    const inTime = periods.length > 0;
    const rect = shape ? shape.rect : inTime && [...this.domain.lower, ...this.domain.upper]; // a release by time shows the timeline of the whole area
    const area = shape?.kind === 'area';
    const answers = area ? this.inCategory(this.regions.area(shape.row, interval)) : rect && (this.trees.length || this.regions) ? this.answers(rect) : null;
    const shown = shape && answers && now.map(at => answers[at]);
    const drawn = area ? this.lines('area', this.regions.outline(shape.row), 255, 2.5) : this.outlines(shown);
    this.app.showOverlay({...drawn, shape: {seq: this.pushed, value: area ? null : shape}}, {});
    this.places.hint.hidden = Boolean(shown);
    const outside = answers?.includes(null);
    const place = shape?.name ?? (shape ? 'The rectangle' : 'The whole area');
    const title = at => [place, names.length > 1 ? this.label(at) : ''].filter(Boolean).join(', ');
    this.places.answer.replaceChildren(...outside
      ? [h('p', {}, 'This rectangle lies outside the area: draw one inside the frame.')]
      : (shown || []).map((answer, row) => answerElement(title(now[row]), answer, interval, values)));
    const ofKinds = names === categories;
    const rows = !answers || outside ? [] : names.map((name, at) => ({
      name, answer: answers[at], now: now.includes(at), show: () => this.set(this.regions ? {a: at} : {a: at, view: null}),
      share: ofKinds && at ? quotientWords(shareOf(answers[at], answers.slice(1), interval), true) : undefined,
    })).slice(ofKinds ? 1 : whole); // a sum of the others is not listed with them
    const caption = `${place}, ${inTime ? 'step by step' : ofKinds ? 'each category and its share' : 'at every ε'}`;
    this.places.list.replaceChildren(...names.length > 2 && rows.length ? [answerTable(rows, interval, caption)] : []);
    this.onChange('choices', this.choices);
  }

  /** Answers of each step in the chosen category, or of each category. */
  answers(rect) {
    if (this.regions) return this.inCategory(this.regions.counts(rect, this.spec.interval));
    const apart = this.names !== this.spec.categories;
    return this.names.map((_, at) => apart ? this.answer(rect, this.shown.kind, at) : this.answer(rect, at, 0));
  }

  /** The chosen category's part of a list of answers. */
  inCategory(answers) {
    return answers.slice(this.map(0), this.map(this.names.length));
  }

  /** The answer of one category in one step; category 0 is the sum of all others. */
  answer(rect, kind, step) {
    const {categories = [], interval} = this.spec;
    if (categories.length && !kind) return added(categories.slice(1).map((_, at) => this.answer(rect, at + 1, step)), interval);
    const [tree, domain] = this.asks(kind, step);
    const box = lattice(rect, domain);
    return rangeCount(tree, this.windows && box ? within(box, this.windows.ends[step]) : box, domain.side, interval);
  }

  /** The tree that answers for a category and a step, and its domain. */
  asks(kind, step) {
    const {windows, domain} = this;
    return windows ? [windows.trees[Math.max(kind - 1, 0)], {...domain, side: windows.side}] : [this.trees[kind * this.spec.names.length + step], domain];
  }

  /** Outlines of the nodes that gave the answer, on a single map. */
  outlines(answers) {
    const {a, kind} = this.shown;
    const [category, step] = this.names === this.spec.categories ? [a, 0] : [kind, a];
    const made = this.regions || this.spec.categories?.length && !category; // the answer used no cells of this map
    const used = (!made && answers?.length === 1 && answers[0]?.used) || [];
    if (!used.length || used.length > MAX_OUTLINED) return {layers: []};
    return this.lines('used', nodeRings(this.asks(category, step)[0], used, this.asks(category, step)[1]), 130, 1);
  }

  /** An overlay of lines in the accent's colour. */
  lines(id, data, opacity, getWidth) {
    return {layers: [{'@@type': 'PathLayer', id, data, getPath: '@@=-', getColor: [...this.app.accent, opacity], getWidth, widthUnits: 'pixels', capRounded: true}]};
  }
}
