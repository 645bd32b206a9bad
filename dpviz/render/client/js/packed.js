/** What a file carries inside itself: text and bytes, as base64 of gzip in elements of the page. */

/** The bytes of an element. */
export async function bytesOf(id) {
  if (!window.DecompressionStream) throw new Error('this browser is too old for the map: open the file in one of 2023 or later');
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** deck.gl and luma.gl, run from an element of the page. */
export async function deckOf(id) {
  const code = new TextDecoder().decode(await bytesOf(id));
  document.head.append(Object.assign(document.createElement('script'), {text: code}));
  return {deck: window.deck, luma: window.luma};
}

/** Columns as wire.js has them, from the index that tells where in `buffer` each lies. */
export function columnsOf(index, buffer) {
  const arrays = {Float32Array, Float64Array, Int32Array, Uint32Array, Uint8Array};
  const placed = place => place && new arrays[place.kind](buffer, place.at, place.items);
  return Object.fromEntries(Object.entries(index).map(([name, {length, size, value, startIndices, texts}]) =>
    [name, {length, size, value: texts ?? placed(value), startIndices: placed(startIndices)}]));
}
