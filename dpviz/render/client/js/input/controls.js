/** The map's buttons and its panels: drawing tools, search for places, zoom, street map, presenting, raw cells, colours, picture. */
import {h, icon} from '../core/dom.js';
import {savePicture} from '../draw/picture.js';
import {Finder} from './finder.js';

const HOME = 'M2 8 8 2.5 14 8M4 6.5v7h8v-7';
const STREETS = 'M2 5h12M2 11h12M6 2v12M11 5v9';
const CORNERS = 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4';
const PRESENT = 'Present: the map alone (F on the map)';
const LENS = 'M11.5 7A4.5 4.5 0 1 1 2.5 7a4.5 4.5 0 0 1 9 0ZM10.3 10.3 14 14';
const PENTAGON = 'M8 2 14 6.5 11.7 13.5H4.3L2 6.5Z';
const TOOLS = {
  rect: {text: '▭ Draw', test: 'dpviz-draw', title: 'Draw a rectangle (Shift + drag, or D on the map)', tap: 'Draw a rectangle',
    hint: 'Drag on the map, or move with the arrow keys and press Enter at two corners', finger: 'Drag a finger over the map'},
  polygon: {sign: PENTAGON, text: ' Polygon', test: 'dpviz-polygon', title: 'Draw a polygon: click its corners, double-click to end (P on the map)', tap: 'Draw a polygon',
    hint: 'Click the corners; double-click or press Enter twice to end', finger: 'Tap the corners; tap the last one again to end'},
};
const byFinger = () => matchMedia('(pointer: coarse)').matches;

/** Instructions for a tool, for a finger or for a mouse and keyboard. */
export const hintOf = tool => byFinger() ? TOOLS[tool].finger : TOOLS[tool].hint;
const PALETTE_NAMES = {tide: 'Tide', ember: 'Ember', grey: 'Grey'};

export class Controls {
  constructor(app) {
    this.app = app;
    this.levels = 0;
    this.tools = h('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Drawing', 'data-control': ''});
    this.camera = h('div', {class: 'camera', 'data-control': ''},
      this.button('+', 'Zoom in', () => app.sight.zoomBy(1)),
      this.button('−', 'Zoom out', () => app.sight.zoomBy(-1)),
      this.button(icon(HOME), 'Back to the whole area', () => app.sight.home(), 'dpviz-home'),
      this.streetButton = this.button(icon(STREETS), 'Street map (online)', () => this.street(), 'dpviz-tiles'),
      this.presentButton = this.button(icon(CORNERS), PRESENT, () => app.present.toggle(), 'dpviz-present'));
    this.presentButton.className = 'present';
    this.panel = h('details', {class: 'panel', 'data-control': '', 'data-testid': 'dpviz-view'});
    this.search = h('details', {class: 'panel search', 'data-control': '', 'data-testid': 'dpviz-search', ontoggle: () => this.offer(),
      onchange: () => { if (!this.finder.missing.textContent) this.fold(app.root); }});
    this.consent = h('div', {class: 'consent', role: 'dialog', 'aria-label': 'Street map', 'data-control': '', hidden: true});
    this.card = h('div', {class: 'card'}); // room that the page leaves for an answer
    app.root.append(h('div', {class: 'bar'}, h('div', {class: 'left'}, this.tools, this.panel, this.search), this.camera), this.card, this.consent);
    app.root.addEventListener('pointerdown', ({target}) => { for (const each of this.panels) if (!each.contains(target)) each.open = false; }); // a press outside closes a panel, which covers the map
  }

  get panels() {
    return [this.panel, this.search];
  }

  /** Closes an open panel; the focus goes to its bar, or to another element. */
  fold(focus) {
    const open = this.panels.find(each => each.open);
    if (!open) return false;
    open.open = false;
    (focus ?? open.firstChild).focus({preventScroll: true});
    return true;
  }

  /** A search field for the places that the map can name within its area. */
  offer() {
    const {app, search} = this;
    if (!search.open) return;
    const seen = new Set();
    const places = app.bound.places().filter(place => app.sight.reaches(place)).sort((a, b) => a.rank - b.rank)
      .filter(({name}) => !seen.has(name) && seen.add(name)); // the largest of a name
    this.finder = new Finder({names: places.map(({name}) => name), noun: 'a place'}, at => at !== null && app.sight.visit(places[at]));
    search.replaceChildren(search.firstChild, this.finder.element);
    this.finder.input.focus({preventScroll: true});
  }

  /** Opens the search field, if the map has one. */
  find() {
    this.search.open = !this.search.hidden;
    return this.search.open;
  }

  button(text, title, onclick, test) {
    return h('button', {type: 'button', title, 'aria-label': title, onclick, 'data-testid': test}, text);
  }

  /** Rebuilds the controls when tools, levels or tiles change; settings are kept. */
  update(spec) {
    const palettes = Boolean(spec.legend?.palettes);
    const key = JSON.stringify([spec.tools, spec.levels, spec.tiles, spec.search, palettes, this.app.view.raw]);
    if (key === this.key) return;
    this.key = key;
    const {app} = this;
    this.tools.replaceChildren(...(spec.tools ?? []).map(name => {
      const {sign, text, title, tap, test} = TOOLS[name];
      return h('button', {type: 'button', title: byFinger() ? tap : title, 'aria-pressed': 'false', 'data-tool': name, 'data-testid': test,
        onclick: () => app.setTool(app.tool === name ? null : name)}, sign && icon(sign), text);
    }));
    if (spec.tools?.length) {
      this.clearButton = this.button('✕', 'Clear the drawn shape (Delete)', () => app.clear(), 'dpviz-clear');
      this.clearButton.append(h('span', {}, ' Clear'));
      this.tools.append(this.clearButton);
    }
    const levels = spec.levels ?? 0;
    if (app.view.depth >= this.levels) app.view.depth = levels; // "all" stays "all"
    this.levels = levels;
    this.depthRow = levels > 1 ? this.range('Levels', 'depth', 0, levels, 1, v => v >= levels ? 'all' : `0–${v}`) : null;
    const rows = [
      palettes && levels > 0 && this.check('Smooth', 'smooth', 'Blend the densities of neighbouring cells, for presentations; the tooltip still shows each cell\'s own number'),
      levels > 0 && this.check('Raw cells', 'raw', 'Show every cell of the release, even if its count is within the noise'),
      this.depthRow,
      palettes && this.choice('Colours', 'palette', PALETTE_NAMES),
      h('button', {type: 'button', class: 'alone', title: PRESENT, onclick: () => app.present.toggle()}, 'Map alone'), // on a phone
      this.button('Save picture', 'Save picture: what the map shows, as a PNG file', () => savePicture(app), 'dpviz-save'),
    ].filter(Boolean);
    this.panel.replaceChildren(h('summary', {title: 'View settings'}, 'View'), ...rows);
    this.search.replaceChildren(h('summary', {title: 'Find a place (/ on the map)', 'aria-label': 'Find a place'}, icon(LENS)));
    this.search.hidden = !spec.search || !app.bound.places().length;
    this.refresh();
  }

  /** Asks for consent before any request to the tile server; a second press returns to the base map. */
  street() {
    const {app, consent} = this;
    if (app.tiles.asked) {
      app.tiles.show(false);
      app.dress();
      return;
    }
    const answer = (text, yes) => h('button', {type: 'button', 'data-testid': yes && 'dpviz-tiles-yes', onclick: () => {
      consent.hidden = true;
      if (yes) app.tiles.show(true);
      app.dress();
      this.streetButton.focus();
    }}, text);
    const yes = answer('Show it', true);
    consent.replaceChildren(h('p', {}, `The street map comes from ${app.tiles.host}. That server learns which area you look at, but nothing about the records.`), yes, answer('Cancel', false));
    consent.hidden = false;
    yes.focus();
  }

  range(label, name, min, max, step, text) {
    const {app} = this;
    const output = h('output', {}, text(app.view[name]));
    const input = h('input', {type: 'range', min, max, step, 'aria-label': label, 'data-testid': `dpviz-${name}`,
      oninput: () => {
        app.view[name] = Number(input.value);
        output.textContent = text(app.view[name]);
        app.render();
      }});
    input.value = app.view[name];
    return h('label', {}, h('span', {}, label), input, output);
  }

  check(label, name, title = '') {
    const {app} = this;
    const input = h('input', {type: 'checkbox', 'data-testid': `dpviz-${name}`, onchange: () => this.show(name, input.checked)});
    input.checked = app.view[name];
    return h('label', {title}, input, h('span', {}, label));
  }

  /** Turns smooth or raw cells on or off; one switches the other off. */
  show(name, on) {
    const {view} = this.app;
    const {raw} = view;
    Object.assign(view, {smooth: false, raw: false, [name]: on});
    if (view.raw !== raw) this.app.emit('raw', view.raw); // raw cells need all cells from the app
    this.app.dress();
  }

  choice(label, name, options) {
    const {app} = this;
    const select = h('select', {'aria-label': label, 'data-testid': `dpviz-${name}`,
      onchange: () => { app.view[name] = select.value; app.dress(); }},
    ...Object.entries(options).map(([value, text]) => h('option', {value}, text)));
    select.value = app.view[name];
    return h('label', {class: 'choice'}, h('span', {}, label), select);
  }

  /** Boxes [left, top, right, bottom] of the buttons, of the ground's credit, of the place of an answer and of a playback, where they lie on the map. */
  boxes() {
    return [this.tools, this.camera, ...this.panels, this.app.attribution, this.card, this.app.player?.element].filter(each => each?.offsetWidth).map(each => this.box(each)).map(
      ([left, top, right, bottom]) => [left - 3, top - 3, right + 3, bottom + 3]);
  }

  /** Box of an element in pixels of the map, however large the page's letters. */
  box(element) {
    const {left, top} = this.app.root.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    return [box.left - left, box.top - top, box.right - left, box.bottom - top];
  }

  /** Shows which tool is active, enables Clear if there is a shape, and hides what is for raw cells only. */
  refresh() {
    const {app} = this;
    for (const button of this.tools.querySelectorAll('[data-tool]')) {
      button.setAttribute('aria-pressed', String(button.dataset.tool === app.tool));
    }
    if (this.clearButton) this.clearButton.disabled = !app.shape;
    if (this.depthRow) this.depthRow.hidden = !app.view.raw;
    for (const input of this.panel.querySelectorAll('[type=checkbox]')) input.checked = app.view[input.dataset.testid.replace('dpviz-', '')];
    this.streetButton.hidden = !app.tiles.spec || Boolean(app.staysFlat);
    this.streetButton.setAttribute('aria-pressed', String(app.tiles.asked));
    this.presentButton.setAttribute('aria-pressed', String(app.present?.on ?? false));
  }
}
