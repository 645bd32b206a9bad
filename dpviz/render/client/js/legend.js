/** The legend: a ramp with its unit and ticks, swatches for what is not on the ramp, and the release's badge. */
import {h} from './dom.js';
import {css} from './palette.js';

/**
 * `legend` is {title, stops, ticks: [{at: 0..1, label}], swatches: [{label, color, hatch}]}; null hides it.
 * A swatch's colour is RGB(A), or the name of one of the theme's.
 */
export function legendElement(legend, theme) {
  if (!legend) return null;
  const ramp = legend.stops && h('div', {
    class: 'ramp', style: `background:linear-gradient(to right,${legend.stops.map(css).join(',')})`,
  });
  const ticks = legend.ticks?.length > 0 && h('div', {class: 'ticks'}, ...legend.ticks.map(({at, label}) =>
    h('span', {style: `left:${at * 100}%;transform:translateX(${-at * 100}%)`}, label)));
  const swatches = (legend.swatches ?? []).map(({label, color, hatch}) => {
    const shown = css(theme[color] ?? color);
    const background = hatch ? `repeating-linear-gradient(135deg,${shown} 0 3px,transparent 3px 6px)` : shown;
    return h('div', {class: 'swatch'}, h('i', {style: `background:${background}`}), label);
  });
  return h('div', {class: 'legend', role: 'img', 'aria-label': legendText(legend), 'data-testid': 'dpviz-legend'},
    h('b', {}, legend.title), ramp, ticks || null, ...swatches);
}

function legendText({title, ticks = [], swatches = []}) {
  const ends = ticks.length ? `, from ${ticks[0].label} to ${ticks.at(-1).label}` : '';
  return [`Legend: ${title}${ends}`, ...swatches.map(s => s.label)].join('; ');
}
