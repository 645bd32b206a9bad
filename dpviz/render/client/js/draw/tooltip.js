/** The tooltip: rows of a layer's bound columns at the picked index, rounded to what the noise allows. */
import {cellWords, groupBoxes} from './areas.js';
import {h} from '../core/dom.js';
import {short, withNoise} from '../answer/numbers.js';

/** The rows' text. A row is {label, value: "table.column", sd?} or {label, text}; `interval` is 95 % in sd. */
export function tooltipRows(rows, columns, index, interval) {
  return rows.map(({label, value, sd, text}) => {
    const at = name => columns[name]?.value[index];
    if (text !== undefined) return [label, text];
    const found = at(value);
    if (found === undefined) return null;
    if (Number.isNaN(found)) return [label, 'too few records'];
    return [label, typeof found === 'string' ? found : sd ? withNoise(found, interval * at(sd)) : short(Number(found))];
  }).filter(Boolean);
}

const INSET = 8; // pixels kept free along the map's edge

/** Start of a box of this size: after a pixel, or before it if there is no room. */
const placed = (at, size, room) =>
  Math.max(INSET, Math.min(at + 14 + size + INSET > room ? at - size - 10 : at + 14, room - size - INSET));

export class Tooltip {
  constructor(app) {
    this.app = app;
    this.box = h('div', {class: 'tooltip', hidden: true, 'data-testid': 'dpviz-tooltip'});
    app.root.append(this.box);
  }

  /** Shows the object {layer, index} at a pixel of the map; null hides the tooltip. */
  show(mark, at) {
    const {app} = this;
    const [x, y] = at ?? [];
    const {layer, index} = mark ?? {};
    const spec = layer && app.tooltips[layer.id];
    this.box.hidden = !spec;
    const cells = spec && !spec.rows.length && layer.constructor.layerName === 'CellLayer' ? layer.props.data.attributes : null;
    app.outline(cells && !layer.props.raw ? {origin: layer.props.origin, boxes: groupBoxes(cells, index)} : null);
    if (!spec) return;
    const lines = cells
      ? cellWords(cells, index, layer.props.raw, app.interval, app.legendSpec).map((text, k) => h('div', {class: k ? '' : 'first'}, text))
      : tooltipRows(spec.rows, app.bound.columns, index, app.interval)
        .map(([label, value]) => h('div', {}, h('span', {}, label), h('span', {}, value)));
    this.box.replaceChildren(...spec.title ? [h('b', {}, spec.title)] : [], ...lines);
    const {width, height} = app.size();
    Object.assign(this.box.style, {left: `${INSET}px`, top: `${INSET}px`}); // moved away from the edge before it is measured: the edge would make it narrower
    const {offsetWidth: w, offsetHeight: t} = this.box;
    Object.assign(this.box.style, {left: `${placed(x, w, width)}px`, top: `${placed(y, t, height)}px`});
  }
}
