/** Entry point of a map in a file: the app's map, answering rectangles by itself. */
import {answerElement, nodeRings, rangeCount} from './answer.js';
import {MapApp} from './app.js';
import {h} from './dom.js';
import {prepared} from './gl.js';
import {bytesOf, columnsOf, deckOf} from './packed.js';

const OUTLINED = 2000; // more nodes would be a grey sheet
const MODES = {swipe: 'Swipe', side: 'Side by side'};
const byId = id => document.getElementById(id);

class FileMap {
  constructor(spec, columns, gl) {
    this.spec = spec;
    this.columns = columns;
    this.domain = {...spec.domainBox, side: spec.side};
    const names = ['lo', 'hi', 'first_child', 'n_children', 'count', 'variance'];
    this.trees = spec.trees.map(({name, roots, noise}) =>
      ({roots, noise, ...Object.fromEntries(names.map(column => [column, columns[`${name}.${column}`].value]))}));
    this.pushed = 0;
    const shadow = byId('map').attachShadow({mode: 'open'});
    shadow.append(h('style', {}, byId('map-style').textContent));
    this.app = new MapApp(shadow, gl);
    this.app.emit = (what, value) => { if (what === 'shape') this.asked(value); };
    this.app.takeTheme();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.app.takeTheme());
    this.show(spec.mode);
    this.modes();
    for (const button of document.querySelectorAll('[data-rect]')) {
      button.onclick = () => this.push(spec.rects[Number(button.dataset.rect)]);
      button.hidden = false;
    }
    if (spec.rects.length) this.push(spec.rects[0]);
  }

  show(mode) {
    const camera = {...this.spec.camera, key: mode}; // two maps beside each other are narrower: look at the whole again
    this.app.showScene({...this.spec, mode, camera}, this.columns);
  }

  /** Two maps: one over the other, or beside each other. */
  modes() {
    if (this.spec.mode === 'single') return;
    const buttons = Object.entries(MODES).map(([mode, text]) => h('button', {
      type: 'button', 'aria-pressed': String(mode === this.spec.mode),
      onclick: () => {
        buttons.forEach(each => each.setAttribute('aria-pressed', String(each.textContent === text)));
        this.show(mode);
      },
    }, text));
    byId('modes').append(...buttons);
  }

  /** Sets a rectangle from the page, and answers it. */
  push(rect) {
    this.pushed += 1;
    this.asked({kind: 'rect', rect});
    if (byId('map').getBoundingClientRect().top < 0) byId('map').scrollIntoView();
  }

  /** Answers a shape, null for none; a file whose domain is not in degrees has no trees, and only shows it. */
  asked(shape) {
    const answers = shape && this.trees.length ? this.answers(shape.rect) : null;
    this.app.showOverlay({...this.outlines(answers), shape: {seq: this.pushed, value: shape}}, {});
    byId('hint').hidden = Boolean(answers);
    const said = !answers ? [] : answers.includes(null)
      ? [h('p', {}, 'This rectangle lies outside the domain: draw one inside the frame.')]
      : answers.map((answer, i) => answerElement(this.spec.names[i], answer, this.spec.interval));
    byId('answer').replaceChildren(...said);
  }

  answers(rect) {
    return this.trees.map(tree => rangeCount(tree, rect, this.domain, this.spec.interval));
  }

  /** The nodes that answered, on a single map. */
  outlines(answers) {
    const used = (answers?.length === 1 && answers[0]?.used) || [];
    if (!used.length || used.length > OUTLINED) return {layers: []};
    return {layers: [{
      '@@type': 'PathLayer', id: 'used', data: nodeRings(this.trees[0], used, this.domain), getPath: '@@=-',
      getColor: [...this.app.accent, 180], getWidth: 1, widthUnits: 'pixels',
    }]};
  }
}

async function start() {
  const spec = JSON.parse(byId('scene').textContent);
  const [buffer, {deck, luma}] = await Promise.all([bytesOf('columns'), deckOf('deck')]);
  window.dpviz = new FileMap(spec, columnsOf(spec.columns, buffer), prepared(deck, luma));
}

start().catch(error => byId('map').append(h('p', {role: 'alert'}, `The map cannot be shown: ${error.message}`)));
