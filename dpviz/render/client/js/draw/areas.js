/**
 * The areas of adaptive detail: cells that are drawn with one density, identified by their first cell.
 * Their sums, and the texts of the tooltip. `columns` are those that a CellLayer is bound to.
 */
import {roundedTo, short, withNoise} from '../answer/numbers.js';

export const POOLED = 1, QUIET = 2, ENCLOSED = 4; // an ENCLOSED cell is hatched, and its `group` is its parent
const UPPER_SDS = 2.12; // sd above a count within its noise: the true count is lower with 98 %
export const ALWAYS = 255; // in `until`: at every closer zoom; in `since`: at no zoom
const made = new WeakMap();

/** Upper limit of the density, per km², in a cell whose count cannot be told from zero. */
const mostIn = (count, sd, km2) => Math.max((count + UPPER_SDS * sd) / km2, 0);

/** Density by which an enclosed cell is hatched: that of its parent, but at most the cell's own upper limit, and at least `least` if the parent reaches it. */
export function hatchDensity({getCount, getNoiseSd, getKm2, getGroup}, i, least) {
  const parent = getCount.value[getGroup.value[i]] / getKm2.value[getGroup.value[i]];
  return parent < least ? 0 : Math.max(Math.min(mostIn(getCount.value[i], getNoiseSd.value[i], getKm2.value[i]), parent), least);
}

/** Sums by area: total, km2, cells, whether it is quiet (cannot be told from zero); cached with the column of counts. */
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

const MIN_KM2 = 1e-4; // the size of a house: a smaller cell shows its records without a density

/** Two digits at most. */
const km2Words = km2 => km2 < MIN_KM2 ? `${short(1e6 * km2)} m²` : `${short(km2)} km²`;

/** A density rounded to its noise, with two digits at most. */
const densityWords = (density, half) => Math.abs(density) > 10 * half ? short(density) : roundedTo(density, half);

/** Lines of the tooltip over cell `i`; `interval` is half of the 95 % interval in standard deviations, `legend` names what is counted, per which surface. */
export function cellWords(columns, i, raw, interval, legend) {
  const {noun = 'records', surface = {km2: 1, words: 'km²'}} = legend ?? {};
  const per = words => `${words} per ${surface.words}`;
  const {getCount, getNoiseSd, getKm2, getKind, getGroup, getGroupSd, getInside, getUntil} = columns;
  const own = {count: getCount.value[i], sd: getNoiseSd.value[i], km2: getKm2.value[i], cells: 1};
  const inside = getInside.value[i];
  const perKm2 = ({count, sd, km2}) => `${km2 < MIN_KM2 ? '' : `${per(densityWords(surface.km2 * count / km2, surface.km2 * interval * sd / km2))} · `}${km2Words(km2)}`;
  if (raw) {
    return [`${withNoise(own.count, interval * own.sd)} ${noun}`, perKm2(own), ...inside > 1 ? [`${plural(inside, 'cell', 'cells')} inside`] : []];
  }
  const areas = cellAreas(columns);
  const group = getGroup.value[i];
  const quiet = ({count, sd, km2}) => ['Within the noise', `at most ${per(short(surface.km2 * mostIn(count, sd, km2)))} here`];
  if (getKind.value[i] === ENCLOSED) return [...quiet(own), `Around it: ${per(short(surface.km2 * getCount.value[group] / getKm2.value[group]))}`];
  const area = {count: areas.total[group], sd: getGroupSd.value[i], km2: areas.km2[group], cells: areas.cells[group]};
  if (areas.quiet[group]) return quiet(area);
  if (area.cells > 1) {
    return [`${withNoise(area.count, interval * area.sd)} ${noun} in ${area.cells} cells together`,
      `On average ${perKm2(area)}`, 'Merged: each cell alone is within the noise'];
  }
  const merged = getUntil.value[i] === ALWAYS && inside > 1;
  const more = merged ? `${plural(inside, 'cell', 'cells')} inside, merged: each alone is within the noise` : inside > 1 && `${plural(inside, 'cell', 'cells')} inside; zoom in`;
  return [`${withNoise(own.count, interval * own.sd)} ${noun}`, perKm2(own), ...more ? [more] : []];
}

/** Boxes [west, south, east, north], as world offsets, of the cells that share an area with cell `i`; none if it is alone. */
export function groupBoxes({getBounds, getGroup, getKind}, i, most = 400) {
  if (getKind.value[i] !== POOLED) return [];
  const group = getGroup.value[i];
  const found = [];
  const n = getGroup.value.length;
  for (let j = group; j < n && found.length < most; j++) { // siblings come after their first
    if (getGroup.value[j] === group && getKind.value[j] <= QUIET) found.push(Array.from(getBounds.value.subarray(4 * j, 4 * j + 4)));
    else if (j - group > 4096) break;
  }
  return found.length > 1 ? found : [];
}
