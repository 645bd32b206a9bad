/** Entry point of a map in an HTML file: shows the data that the page carries. */
import {h} from '../core/dom.js';
import {prepared} from '../core/gl.js';
import {bytesOf, columnsOf, loadedDeck} from '../core/packed.js';
import {Viewer} from './viewer.js';

const byId = id => document.getElementById(id);

async function start() {
  const spec = JSON.parse(byId('scene').textContent);
  const [buffer, gl] = await Promise.all([bytesOf('columns'), prepared(async () => loadedDeck(await bytesOf('deck')))]);
  const places = {map: byId('map'), modes: byId('modes'), hint: byId('hint'), answer: byId('answer'), total: byId('total'), style: byId('map-style').textContent};
  const viewer = window.dpviz = new Viewer(places, spec, columnsOf(spec.columns, buffer), gl);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => viewer.app.takeTheme());
  const frame = window.frameElement; // the app embeds the page of a release, and prints its full height
  if (frame) addEventListener('beforeprint', () => frame.style.setProperty('--sheet', `${document.documentElement.scrollHeight}px`));
  for (const button of document.querySelectorAll('[data-rect]')) {
    button.onclick = () => {
      viewer.push(spec.rects[Number(button.dataset.rect)]);
      if (places.map.getBoundingClientRect().top < 0) places.map.scrollIntoView();
    };
    button.hidden = false;
  }
  if (spec.rects.length) viewer.push(spec.rects[0]);
}

start().catch(error => byId('map').append(h('p', {role: 'alert'}, `The map cannot be shown: ${error.message}`)));
