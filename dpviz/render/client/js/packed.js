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

/** Numbers from the bytes of a column, of which all first ones come first, then all second ones. */
function unshuffled(Kind, bytes) {
  const size = Kind.BYTES_PER_ELEMENT;
  const items = bytes.length / size;
  const whole = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < items; i++) whole[i * size + k] = bytes[k * items + i];
  return new Kind(whole.buffer);
}

/** Columns as wire.js has them, from the index that tells where in `buffer` each lies. */
export function columnsOf(index, buffer) {
  const kinds = {Float32Array, Float64Array, Int32Array, Uint32Array, Uint8Array};
  const placed = place => {
    if (!place) return undefined;
    const Kind = kinds[place.kind];
    return unshuffled(Kind, new Uint8Array(buffer, place.at, place.items * Kind.BYTES_PER_ELEMENT));
  };
  return Object.fromEntries(Object.entries(index).map(([name, {length, size, value, startIndices, texts, delta}]) => {
    const values = texts ?? placed(value);
    if (delta) for (let i = size; i < values.length; i++) values[i] += values[i - size];
    return [name, {length, size, value: values, startIndices: placed(startIndices)}];
  }));
}
