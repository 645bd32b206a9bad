/** The map's buttons and its view panel: drawing tools, zoom, depth, opacity, outlines, tiles, picture. */
import {h} from './dom.js';

const TOOLS = {
  rect: {text: '▭ Draw', title: 'Draw a rectangle (D, or Shift + drag)', test: 'dpviz-draw'},
  polygon: {text: '⬠ Polygon', title: 'Draw a polygon: click its corners, double-click to end (P)', test: 'dpviz-polygon'},
};

export class Controls {
  constructor(app) {
    this.app = app;
    this.levels = 0;
    this.tools = h('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Drawing', 'data-control': ''});
    this.camera = h('div', {class: 'camera', 'data-control': ''},
      this.button('+', 'Zoom in', () => app.zoomBy(1)),
      this.button('−', 'Zoom out', () => app.zoomBy(-1)),
      this.button('⌂', 'Back to the whole domain', () => app.home(), 'dpviz-home'));
    this.panel = h('details', {class: 'panel', 'data-control': '', 'data-testid': 'dpviz-view'});
    app.root.append(this.tools, this.camera, this.panel);
  }

  button(text, title, onclick, test) {
    return h('button', {type: 'button', title, 'aria-label': title, onclick, 'data-testid': test}, text);
  }

  /** Rebuilt when the tools, the number of levels or the tiles on offer change; settings survive. */
  update(spec) {
    const key = JSON.stringify([spec.tools, spec.levels, spec.tiles, spec.picture]);
    if (key === this.key) return;
    this.key = key;
    const {app} = this;
    this.tools.replaceChildren(...(spec.tools ?? []).map(name => {
      const {text, title, test} = TOOLS[name];
      return h('button', {type: 'button', title, 'aria-pressed': 'false', 'data-tool': name, 'data-testid': test,
        onclick: () => app.setTool(app.tool === name ? null : name)}, text);
    }));
    if (spec.tools?.length) {
      this.clearButton = this.button('✕ Clear', 'Clear the drawn shape (Delete)', () => app.clear(), 'dpviz-clear');
      this.tools.append(this.clearButton);
    }
    const levels = spec.levels ?? 0;
    if (app.view.depth >= this.levels) app.view.depth = levels; // the leaves stay the leaves
    this.levels = levels;
    const rows = [
      levels > 1 && this.range('Depth', 'depth', 0, levels, 1, v => v >= levels ? 'leaves' : `level ${v}`),
      levels > 0 && this.range('Opacity', 'opacity', 0, 1, 0.05, v => `${Math.round(v * 100)} %`),
      levels > 0 && this.check('Outlines', 'outlines'),
      spec.tiles && (this.tilesRow = this.check('Street map', 'tiles')),
      this.button('Save picture', 'Save what the map shows as a PNG file', () => app.savePicture(), 'dpviz-save'),
    ].filter(Boolean);
    this.panel.replaceChildren(h('summary', {title: 'View settings'}, 'View'), ...rows);
    this.tilesReachable(false);
    if (this.panel.open === false && !this.opened) this.panel.open = this.app.size().width >= 960;
    this.opened = true;
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

  check(label, name) {
    const {app} = this;
    const input = h('input', {type: 'checkbox', 'data-testid': `dpviz-${name}`,
      onchange: () => { app.view[name] = input.checked; app.render(); }});
    input.checked = app.view[name];
    return h('label', {}, input, h('span', {}, label));
  }

  tilesReachable(yes) {
    if (this.tilesRow) this.tilesRow.hidden = !yes;
  }

  /** Which tool is on, and whether there is anything to clear. */
  refresh() {
    for (const button of this.tools.querySelectorAll('[data-tool]')) {
      button.setAttribute('aria-pressed', String(button.dataset.tool === this.app.tool));
    }
    if (this.clearButton) this.clearButton.disabled = !this.app.shape;
  }
}
