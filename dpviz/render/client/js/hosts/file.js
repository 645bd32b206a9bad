/** Entry point of a map in an HTML file: shows the data that the page carries. */
import {h} from '../core/dom.js';
import {savePicture} from '../draw/picture.js';
import {prepared} from '../core/gl.js';
import {bytesOf, columnsOf, loadedDeck} from '../core/packed.js';
import {Viewer} from './viewer.js';

const byId = id => document.getElementById(id);

const frame = window.frameElement; // the app embeds the page of a release
const [holder, part] = frame ? [parent, 'search'] : [window, 'hash']; // the address that people copy

const SHEET = '186mm'; // width of A4 without margins

const button = (text, onclick) => h('button', {type: 'button', onclick}, text);

const inAddress = () => new URLSearchParams(holder.location[part].slice(1));

/** Writes choices into the address, which F5 and a copied link restore. */
function remember(choices) {
  const all = inAddress();
  for (const [name, value] of Object.entries(choices)) value ? all.set(name, value) : all.delete(name);
  const text = String(all);
  if (text === String(inAddress())) return;
  try {
    holder.history.replaceState(holder.history.state, '', frame ? `?${text}` : `#${text}`);
  } catch { /* a page without an address of its own, or a browser that allows few changes a minute */ }
}

/** A button that copies a text; `made` makes it from the address of the app's page that embeds this one. Where copying is refused, the text is there to select. */
const copier = (text, made) => button(text, async ({currentTarget: pressed}) => {
  const value = made(holder.location.href);
  try {
    await navigator.clipboard.writeText(value); // a page without https has no clipboard
    pressed.textContent = 'Copied';
    setTimeout(() => { pressed.textContent = text; }, 2000);
  } catch {
    byId('take').querySelector('input')?.remove();
    const shown = h('input', {value, readonly: true, 'aria-label': `${text}: the text to copy`});
    byId('take').append(shown);
    shown.select();
  }
});

/** Title, subtitle, day and guarantee with its ε, a sentence each, and the address. */
function citation(address) {
  const [subtitle, day, guarantee] = ['.subtitle', 'footer time', '.guarantee'].map(selector => document.querySelector(selector)?.textContent);
  const parts = [document.title, subtitle, day && `Published ${day}`, guarantee].filter(Boolean);
  return [...parts.map(each => `${each.replace(/\.$/, '')}.`), address].join(' ');
}

const COPIES = {
  'Copy link': address => address,
  Embed: address => h('iframe', {src: `${address}&embed=true`, title: document.title, width: '100%', height: '700'}).outerHTML,
  Cite: citation,
};

/** Height of the page on paper, measured with its print rules and without those of a phone: the app sets it before the browser lays out the sheets. */
function printedHeight(...roots) {
  const {body} = document;
  const rules = roots.flatMap(({styleSheets}) => [...styleSheets]).flatMap(({cssRules}) => [...cssRules]).filter(({media}) => media?.mediaText === 'print');
  const set = (medium, width) => {
    for (const {media} of rules) media.mediaText = medium;
    body.style.width = width;
    frame.style.width = width && '1280px'; // a phone's rules are not for paper
  };
  set('all', SHEET);
  const {scrollHeight} = body;
  set('print', '');
  return scrollHeight;
}

async function start() {
  const spec = JSON.parse(byId('scene').textContent);
  const [buffer, gl] = await Promise.all([bytesOf('columns'), prepared(async () => loadedDeck(await bytesOf('deck')))]);
  const places = {map: byId('map'), modes: byId('modes'), hint: byId('hint'), answer: byId('answer'), list: byId('list'), total: byId('total'), style: byId('map-style').textContent};
  const viewer = window.dpviz = new Viewer(places, spec, columnsOf(spec.columns, buffer), gl);
  viewer.onChange = (what, value) => { // on a phone the answer is below the map
    if (what === 'choices') remember(value);
    else if (what === 'shape' && value && matchMedia('(max-width: 760px)').matches) places.answer.scrollIntoView({block: 'nearest'});
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => viewer.app.takeTheme());
  if (frame) byId('alone').remove(); // the app's page around this one is from a server
  if (frame) addEventListener('beforeprint', () => frame.style.setProperty('--sheet', `${printedHeight(document, places.map.shadowRoot)}px`));
  byId('take').append(button('Save picture', () => savePicture(viewer.app)), button('Print', () => print()), ...frame ? Object.entries(COPIES).map(each => copier(...each)) : []);
  for (const shows of document.querySelectorAll('[data-rect]')) {
    shows.onclick = () => {
      viewer.push(spec.rects[Number(shows.dataset.rect)]);
      if (places.map.getBoundingClientRect().top < 0) places.map.scrollIntoView();
    };
    shows.hidden = false;
  }
  viewer.restore(inAddress());
  if (spec.rects.length && !viewer.shape) viewer.push(spec.rects[0]);
}

start().catch(error => byId('map').append(h('p', {role: 'alert'}, `The map cannot be shown: ${error.message}`)));
