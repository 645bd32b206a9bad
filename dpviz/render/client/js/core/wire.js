/**
 * The wire format: `data = {spec, <name>: Arrow table, ...}`.
 *
 * `spec` is JSON: deck.gl layers, and under `bind` the table column of each accessor. Tables
 * arrive from Streamlit already parsed; their buffers are used in place, without a copy:
 *   number                         -> {value, size: 1}
 *   fixed-size list of k numbers   -> {value, size: k}
 *   list of either                 -> the same with `startIndices`, one start per row and the end
 *   text                           -> {value: [strings], size: 1}
 */

function column(vector) {
  const [data, ...rest] = vector.data;
  if (rest.length) throw new Error('several record batches in a table: one expected');
  let list = data;
  let startIndices;
  if (data.valueOffsets && data.children.length) {
    startIndices = data.valueOffsets;
    list = data.children[0];
  }
  if (list.children.length) return {value: list.children[0].values, size: list.type.listSize, startIndices};
  if (data.valueOffsets && !data.children.length) return {value: Array.from(vector), size: 1};
  return {value: list.values, size: 1, startIndices};
}

/** All columns of all tables, named "table.column", with `length` rows each. */
export function columns({spec, ...tables}) {
  const result = {};
  for (const [name, table] of Object.entries(tables)) {
    for (const field of table.schema.fields) {
      const vector = table.getChild(field.name);
      if (!vector.data.length) continue;
      result[`${name}.${field.name}`] = {...column(vector), length: vector.length};
    }
  }
  return result;
}

/** deck.gl's binary data object for a layer whose accessors are bound to columns; dark pages use `getColorDark`. */
export function binaryData(bindings, available, dark = false) {
  const attributes = {};
  let length = 0;
  let startIndices;
  for (const [accessor, name] of Object.entries(bindings)) {
    const found = available[name];
    const forDark = accessor.endsWith('Dark');
    if (!found || forDark && !dark) continue; // an empty table has no batch
    length = found.length;
    startIndices ??= found.startIndices;
    const plain = forDark ? accessor.slice(0, -4) : accessor;
    attributes[plain] = {value: found.value, size: found.size, normalized: found.value instanceof Uint8Array};
  }
  return {length, startIndices, attributes};
}
