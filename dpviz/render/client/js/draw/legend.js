/** The legend: a strip below the map with its title and unit, the meaning of blank, and the classes with their bounds. */
import {h} from '../core/dom.js';
import {css} from '../core/palette.js';

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

/** CSS of a colour square, or of a line that is `width` pixels thick. */
const look = (shown, width) => width ? `background:linear-gradient(${shown},${shown}) center/100% ${width}px no-repeat;border-color:transparent` : `background:${shown}`;

export function legendElement(legend, {palette, mode, raw, land}) {
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
  return h('div', {class: 'legend', role: 'img', 'aria-label': legendText(legend, raw, mode), 'data-testid': 'dpviz-legend'},
    h('b', {}, legend.title), keys || null, ...swatches, blank ? h('small', {}, blank) : null);
}

function legendText(legend, raw, mode) {
  const labels = legendClasses(legend, '', mode, raw).map(each => each.label).filter(Boolean);
  const ends = labels.length ? `, classes from ${labels.join(', ')}` : '';
  const rest = [blankWords(legend, raw), ...legendSwatches(legend, raw, mode).map(s => s.label)].filter(Boolean);
  return [`Legend: ${legend.title}${ends}`, ...rest].join('; ');
}

/** The checkbox that keeps the scale for later maps. */
export function lockBox(on, set) {
  const input = h('input', {type: 'checkbox', 'data-testid': 'dpviz-lock', onchange: () => set(input.checked)});
  input.checked = on;
  return h('label', {class: 'lock', title: 'Later maps keep these classes, so that a colour means the same on each'}, input, 'Lock scale');
}
