/** Entry point of a notebook widget (anywidget): a viewer that shares rectangle and camera with Python. */
import {h} from '../core/dom.js';
import {prepared} from '../core/gl.js';
import {columnsOf, loadedDeck, unpacked} from '../core/packed.js';
import {Viewer} from './viewer.js';

const bytes = view => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** True if the notebook is dark, judged by the first background colour around the element. */
function onDark(element) {
  for (let around = element; around; around = around.parentElement) {
    const [r, g, b, alpha = 1] = (getComputedStyle(around).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (alpha) return 0.299 * r + 0.587 * g + 0.114 * b < 128;
  }
  return false;
}

/** The elements around a map, and the badges of its releases. */
function layout(shadow, {badges, live}, css) {
  const places = {map: h('div', {class: 'place'}), modes: h('div', {class: 'modes', role: 'group', 'aria-label': 'How the maps are shown'}),
    hint: h('p', {class: 'soft'}, live ? 'Press ▭ Draw on the map. In Python, the rectangle and its answer are the widget\'s attributes rectangle and answer.' : 'Drag to move, scroll to zoom.'),
    answer: h('div', {'aria-live': 'polite'}), list: h('div', {'aria-live': 'polite'})};
  shadow.append(h('style', {}, css),
    h('ul', {class: 'badges'}, ...badges.map(({kind, text, label}) => h('li', {}, label ? `${label}: ` : '', h('span', {class: kind}, text)))),
    h('div', {class: 'stage'}, h('div', {}, places.modes, places.map), h('section', {'aria-label': 'Answer'}, places.hint, places.answer, places.list)));
  return places;
}

async function render({model, el}) {
  const host = h('div', {'data-lm-suppress-shortcuts': 'true'}); // key presses on the map must not trigger the notebook's shortcuts
  host.classList.toggle('dark', onDark(el));
  el.append(host);
  let viewer;
  let gone = false;
  const ended = [];
  const listen = (name, call) => {
    model.on(`change:${name}`, call);
    ended.push(() => model.off(`change:${name}`, call));
  };
  const show = async () => {
    const [spec, camera] = [model.get('_spec'), model.get('camera')];
    if (camera) spec.camera = {...camera, key: 'shared'};
    const carried = name => unpacked(bytes(model.get(name)));
    const [columns, gl] = await Promise.all([carried('_columns'), prepared(async () => loadedDeck(await carried('_deck')))]);
    if (gone) return;
    const places = {...layout(host.attachShadow({mode: 'open'}), spec, model.get('_page_css')), style: model.get('_map_css')};
    viewer = new Viewer(places, spec, columnsOf(spec.columns, columns), gl);
    let drawing = false; // the visitor's own drawing comes back from Python: ignore it
    const push = () => {
      if (drawing) return;
      const rect = model.get('rectangle');
      if (JSON.stringify(rect ?? null) !== JSON.stringify(viewer.shape?.rect ?? null)) viewer.push(rect ?? null);
    };
    const move = () => {
      if (model.get('camera') && viewer.app.camera) viewer.app.sight.moved(model.get('camera'));
    };
    viewer.onChange = (what, value) => {
      drawing = true;
      const inside = what === 'shape' && value && viewer.answers(value.rect).every(Boolean);
      if (what === 'shape') model.set('rectangle', inside ? value.rect : null);
      else if (what === 'camera') model.set('camera', value);
      drawing = false;
      model.save_changes();
    };
    listen('rectangle', push);
    listen('camera', move);
    push();
  };
  await show().catch(error => host.append(h('p', {role: 'alert'}, `The map cannot be shown: ${error.message}`)));
  return () => {
    gone = true;
    for (const end of ended) end();
    viewer?.app.destroy();
  };
}

export default {render};
