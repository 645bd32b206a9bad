/** Entry point that lets a browser fetch deck.gl before there is a map. */
import {loadDeck} from './loader.js';

export default function ({data}) {
  if (data?.spec) loadDeck(data.spec.bundle).catch(() => {}); // the map itself will say so
}
