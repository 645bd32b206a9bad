/** HTML above the canvas: names of the maps, the divider between them, corner handles, the cross-hair. */
import {h} from '../core/dom.js';
import {corners} from '../input/shapes.js';

const CORNER_NAMES = ['south-west', 'south-east', 'north-east', 'north-west'];
const CURSORS = ['nesw-resize', 'nwse-resize', 'nesw-resize', 'nwse-resize'];

export class Labels {
  constructor(app) {
    this.app = app;
    this.layer = h('div', {class: 'labels'});
    this.handles = h('div', {class: 'handles'});
    this.cross = h('div', {class: 'crosshair', hidden: true, 'data-testid': 'dpviz-crosshair'});
    this.advice = h('div', {class: 'advice', hidden: true, role: 'status', 'data-testid': 'dpviz-hint'});
    app.root.append(this.layer, this.handles, this.cross, this.advice);
  }

  /** Shows a hint in the middle of the map for some milliseconds. */
  hint(text, time = 2000) {
    this.advice.textContent = text;
    this.advice.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.advice.hidden = true; }, time);
  }

  update(mode, names, panes) {
    const key = JSON.stringify([mode, names, panes]);
    if (key === this.key) return;
    this.key = key;
    const alone = this.app.isAlone;
    const several = mode === 'side' && !alone;
    this.app.root.classList.toggle('halves', several);
    this.head(mode === 'side' ? names : names.slice(0, mode === 'swipe' ? 2 : 1), alone);
    this.layer.replaceChildren(...several ? panes.map(({x: left, y: top, width, height}) => h('div', {
      class: 'pane', style: `left:${left};top:${top};width:${width};height:${height}`})) : []);
    if (mode === 'swipe') this.layer.append(this.divider());
  }

  /** Names above the maps; of maps that are shown one at a time, buttons that choose one. */
  head(names, alone) {
    const {app} = this;
    const {heads} = app;
    const key = JSON.stringify([names, alone]);
    if (key !== this.named) {
      this.named = key;
      heads.hidden = names.length < 2; // the legend names a single map
      heads.replaceChildren(...names.map((text, i) => {
        const [name, error = '', where = ''] = text.split('\n');
        return alone ? h('button', {type: 'button', onclick: () => app.bringToFront(i)}, (names.length > 3 ? name : `${name}\n${error}`).replaceAll(' = ', '\u00a0=\u00a0'))
          : h('div', {class: 'head', title: text}, `${name}\n${error} ${where}`);
      }));
    }
    if (alone) [...heads.children].forEach((each, i) => each.setAttribute('aria-pressed', String(i === app.front)));
  }

  divider() {
    const app = this.app;
    const place = () => {
      line.style.left = `${app.split * 100}%`;
      line.setAttribute('aria-valuenow', Math.round(app.split * 100));
    };
    const set = split => {
      app.split = Math.min(0.98, Math.max(0.02, split));
      place();
      app.render();
    };
    const line = h('div', {
      class: 'divider swipe', role: 'slider', tabindex: 0, 'data-control': '', 'data-testid': 'dpviz-swipe',
      'aria-label': 'Divider between the two maps', 'aria-valuemin': 0, 'aria-valuemax': 100,
      onpointerdown: event => {
        event.stopPropagation();
        line.setPointerCapture(event.pointerId);
        line.onpointermove = move => {
          const box = app.root.getBoundingClientRect();
          set((move.clientX - box.left) / box.width);
        };
      },
      onpointerup: () => { line.onpointermove = null; },
      onkeydown: event => {
        const step = {ArrowLeft: -0.02, ArrowRight: 0.02}[event.key];
        if (step) { set(app.split + step); event.preventDefault(); }
      },
    });
    place();
    return line;
  }

  crosshair(at) {
    this.cross.hidden = !at;
    if (at) { this.cross.style.left = `${at[0]}px`; this.cross.style.top = `${at[1]}px`; }
  }

  /** Places four handles per view at the corners of the drawn rectangle. */
  moveHandles(shape, viewports) {
    const wanted = shape?.kind === 'rect' && this.app.tools.includes('rect') ? viewports : [];
    while (this.handles.children.length > wanted.length * 4) this.handles.lastChild.remove();
    wanted.forEach((viewport, v) => corners(shape.rect).forEach((corner, k) => {
      const i = v * 4 + k;
      if (!this.handles.children[i]) {
        this.handles.append(h('div', {class: 'handle', title: `Drag the ${CORNER_NAMES[k]} corner`, 'data-corner': k, style: `cursor:${CURSORS[k]}`}));
      }
      const [x, y] = viewport.project(corner);
      const inside = x >= 0 && x <= viewport.width && y >= 0 && y <= viewport.height;
      Object.assign(this.handles.children[i].style, {left: `${viewport.x + x}px`, top: `${viewport.y + y}px`, display: inside ? '' : 'none'});
    }));
  }
}
