/**
 * The areas of adaptive detail: cells that are drawn with one density, named by their first cell.
 * Their sums, and the words of a tooltip. `columns` are those that a CellLayer is bound to.
 */
import {short, withNoise} from '../answer/numbers.js';

export const SHOWN = 0, POOLED = 1, QUIET = 2;
const UPPER = 2.12; // sd over an estimate that is within its noise: what may be none is below, 98 %
const made = new WeakMap();

/** Sums by area: total, km2, cells, whether it is quiet; kept as long as the column of counts lives. */
export function cellAreas({getCount, getKm2, getKind, getGroup}) {
  const kept = made.get(getCount.value);
  if (kept) return kept;
  const n = getCount.value.length;
  const areas = {total: new Float64Array(n), km2: new Float64Array(n), cells: new Uint32Array(n), quiet: new Uint8Array(n)};
  for (let i = 0; i < n; i++) {
    const group = getGroup.value[i];
    const kind = getKind.value[i];
    if (kind > QUIET) continue;
    areas.total[group] += getCount.value[i];
    areas.km2[group] += getKm2.value[i];
    areas.cells[group] += 1;
    areas.quiet[group] = kind === QUIET ? 1 : 0;
  }
  made.set(getCount.value, areas);
  return areas;
}

const plural = (n, one, many) => n === 1 ? `1 ${one}` : `${n.toLocaleString('en')} ${many}`;

/** Two digits, but no more than a person wants of an area. */
const km2Words = km2 => `${short(km2)} km²`;

/** The lines of a tooltip over cell `i`; `interval` is 95 % in sd. */
export function cellWords(columns, i, raw, interval) {
  const {getCount, getNoiseSd, getKm2, getGroup, getGroupSd, getInside} = columns;
  const own = {count: getCount.value[i], sd: getNoiseSd.value[i], km2: getKm2.value[i], cells: 1};
  const inside = getInside.value[i];
  const more = inside > 1 ? [`${plural(inside, 'cell', 'cells')} inside; zoom in`] : [];
  const perKm2 = ({count, km2}) => `${short(count / km2)} per km²`;
  if (raw) {
    return [`${withNoise(own.count, interval * own.sd)} records`, `${perKm2(own)} · ${km2Words(own.km2)}`, ...inside > 1 ? [`${plural(inside, 'cell', 'cells')} inside`] : []];
  }
  const areas = cellAreas(columns);
  const group = getGroup.value[i];
  const area = {count: areas.total[group], sd: getGroupSd.value[i], km2: areas.km2[group], cells: areas.cells[group]};
  if (areas.quiet[group]) {
    const most = Math.max((area.count + UPPER * area.sd) / area.km2, 0);
    return ['Too few to tell from none', `at most ${short(most)} per km² here`];
  }
  if (area.cells > 1) {
    return [`${withNoise(area.count, interval * area.sd)} records in ${area.cells} cells together`,
      `${perKm2(area)} on average · ${km2Words(area.km2)}`, 'Merged: alone, each is within its noise'];
  }
  return [`${withNoise(own.count, interval * own.sd)} records`, `${perKm2(own)} · ${km2Words(own.km2)}`, ...more];
}

/** The boxes [west, south, east, north] in world offsets of the cells that share an area of more than one. */
export function groupBoxes({getBounds, getGroup, getKind}, i, most = 400) {
  if (getKind.value[i] !== POOLED) return [];
  const group = getGroup.value[i];
  const found = [];
  const n = getGroup.value.length;
  for (let j = group; j < n && found.length < most; j++) { // siblings follow their first
    if (getGroup.value[j] === group && getKind.value[j] <= QUIET) found.push(Array.from(getBounds.value.subarray(4 * j, 4 * j + 4)));
    else if (j - group > 4096) break;
  }
  return found.length > 1 ? found : [];
}
