/** The legend: a strip below the map with its title and unit, the meaning of blank, and the classes with their bounds. */
import {h} from '../core/dom.js';
import {css} from '../core/palette.js';

const MAX_CIRCLE = 32; // pixels across

/** The classes of a legend that occur on the map, as [{color, label, width}] in a palette and a theme. */
export function legendClasses({classes = [], palettes, empty}, palette, mode, raw) {
  if (empty && !raw) return [];
  const chosen = palettes?.[palette]?.[mode];
  return classes.map(({label, width, ...own}, i) => ({label, width, color: chosen?.[i] ?? own[mode]}));
}

/** Visible swatches: some belong to raw cells only, others to every other view. */
export function legendSwatches({swatches = [], palettes}, raw, mode) {
  return swatches.filter(each => palettes ? raw === each.raw : raw || !each.raw).map(each => ({...each, color: each[mode]}));
}

/** The meaning of blank cells, which raw ones are not. */
export const blankWords = ({blank}, raw) => raw ? '' : blank;

/** The circles of a legend at a zoom: round counts, the largest first, with diameters in pixels; as in legend.py. */
export function legendCircles({circles}, zoom) {
  if (!circles || zoom === undefined) return [];
  const {radius, most} = circles;
  const powers = Array.from({length: Math.floor(Math.log10(Math.max(most, 1))) + 1}, (_, i) => 10 ** i).reverse();
  return powers.flatMap(power => [5, 2, 1].map(k => k * power))
    .map(count => ({count: count.toLocaleString('en'), wide: 2 * radius * Math.sqrt(count) * 2 ** zoom, within: count <= most}))
    .filter(({wide, within}) => within && wide <= MAX_CIRCLE).slice(0, 5).filter((_, i) => i % 2 === 0);
}

/** CSS of a colour square, or of a line that is `width` pixels thick. */
const look = (shown, width) => width ? `background:linear-gradient(${shown},${shown}) center/100% ${width}px no-repeat;border-color:transparent` : `background:${shown}`;

export function legendElement(legend, {palette, mode, raw, land, zoom}) {
  if (!legend?.title) return null; // such a one only names what its map counts
  const classes = legendClasses(legend, palette, mode, raw);
  const blank = blankWords(legend, raw);
  const keys = classes.length > 0 && h('div', {class: 'classes'},
    legend.blank && !legend.classes.some(each => each.label.startsWith('−'))
      ? h('div', {class: 'class blank'}, h('i', {style: `background:${css(land)}`}), h('span', {}, raw ? 'less' : 'blank')) : null,
    ...classes.map(({color, label, width}) => h('div', {class: 'class'},
      h('i', {class: css(color) === css(land) && 'ground', style: look(css(color), width)}),
      h('span', {}, label))));
  const swatches = legendSwatches(legend, raw, mode).map(({label, color, hatch, width}) => {
    const shown = css(color);
    const style = hatch ? `background:repeating-linear-gradient(135deg,${shown} 0 2px,transparent 2px 6px)` : look(shown, width);
    return h('div', {class: 'swatch'}, h('i', {style}), label);
  });
  const circles = legendCircles(legend, zoom).flatMap(({count, wide}) => [h('i', {style: `background:${css(legend.circles[mode])};width:${wide}px;height:${wide}px`}), h('span', {}, count)]);
  if (legend.circles) swatches.unshift(h('div', {class: 'swatch circles'}, ...circles, h('span', {}, legend.circles.label)));
  return h('div', {class: 'legend', role: 'img', 'aria-label': legendText(legend, raw, mode, zoom), 'data-testid': 'dpviz-legend'},
    h('b', {}, legend.title), keys || null, ...swatches, blank ? h('small', {}, blank) : null);
}

function legendText(legend, raw, mode, zoom) {
  const labels = legendClasses(legend, '', mode, raw).map(each => each.label).filter(Boolean);
  const ends = labels.length ? `, classes from ${labels.join(', ')}` : '';
  const rest = [blankWords(legend, raw), ...legendSwatches(legend, raw, mode).map(s => s.label)].filter(Boolean);
  if (legend.circles) rest.unshift(`circles for ${legendCircles(legend, zoom).map(({count}) => count).join(', ')} ${legend.circles.label}`);
  return [`Legend: ${legend.title}${ends}`, ...rest].join('; ');
}

/** The checkbox that keeps the scale for later maps. */
export function lockBox(on, set) {
  const input = h('input', {type: 'checkbox', 'data-testid': 'dpviz-lock', onchange: () => set(input.checked)});
  input.checked = on;
  return h('label', {class: 'lock', title: 'Later maps keep these classes, so that a colour means the same on each'}, input, 'Lock scale');
}
