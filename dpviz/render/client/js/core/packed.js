/** Data that a file or a notebook carries with a map: gzip-compressed bytes; in a file as base64 in elements of the page. */

/** Decompressed bytes. */
export async function unpacked(bytes) {
  if (!window.DecompressionStream) throw new Error('this browser is too old for the map: use one from 2023 or later');
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** Decompressed bytes of an element. */
export function bytesOf(id) {
  return unpacked(Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0)));
}

/** deck.gl and luma.gl, run once per page from the bytes of their bundle, hidden from a page's own module loader. */
export function loadedDeck(bytes) {
  if (!window.deck || !window.luma) {
    const code = new TextDecoder().decode(bytes);
    document.head.append(Object.assign(document.createElement('script'), {text: `(function (define, exports, module) {${code}\n})();`}));
  }
  return {deck: window.deck, luma: window.luma};
}

/** Numbers from the bytes of a column: all first bytes, then all second bytes, and so on. */
function unshuffled(Kind, bytes) {
  const size = Kind.BYTES_PER_ELEMENT;
  const items = bytes.length / size;
  const whole = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < items; i++) whole[i * size + k] = bytes[k * items + i];
  return new Kind(whole.buffer);
}

/** Columns in the form of wire.js, from an index of their positions in `buffer`. */
export function columnsOf(index, buffer) {
  const kinds = {Float32Array, Float64Array, Int32Array, Uint32Array, Uint8Array};
  const read = ({kind, at, items}) => unshuffled(kinds[kind], new Uint8Array(buffer, at, items * kinds[kind].BYTES_PER_ELEMENT));
  const seen = new Map(); // the frames of areas share their outlines
  const placed = place => {
    if (!place) return undefined;
    const key = `${place.kind} ${place.at} ${place.items}`;
    if (!seen.has(key)) seen.set(key, read(place));
    return seen.get(key);
  };
  return Object.fromEntries(Object.entries(index).map(([name, {length, size, value, startIndices, texts, delta}]) => {
    const numbers = delta ? read(value) : placed(value); // differences are added up in place, so each column needs its own copy
    const values = texts ? Array.from(numbers, at => texts[at]) : numbers;
    if (delta) for (let i = size; i < values.length; i++) values[i] += values[i - size];
    return [name, {length, size, value: values, startIndices: placed(startIndices)}];
  }));
}
