/**
 * Smoothed cells for a presentation: densities change gradually between cells, not at their edges.
 *
 * Each place shows the mean over a square as large as its own cell, so that no detail is finer than
 * the cells: in the middle of equal cells this is their density, and between two cells it lies
 * between both. Means are taken over classes: one large density would outweigh all others
 * around it. Totals are not preserved, so this is for pictures only; answers never use it.
 */
import {cellAreas} from './areas.js';
import {cellTable, drawnRows, sight} from './cells.js';
import {degreesOf} from '../core/mercator.js';

const SAMPLES = 160_000; // of one picture: about one per pixel of a small map
const AROUND = 0.25; // margin around the visible part, as a share of its size: cells there affect the means

/** Position of a density among the classes: k at the lower bound of class k, and −1 if blank. */
export function classPlace(density, bounds) {
  const last = bounds.length - 1;
  if (!(density > 0)) return -1;
  const at = bounds.findLastIndex(bound => density >= bound);
  const [low, high] = at < 0 ? [bounds[0] ** 2 / bounds[Math.min(1, last)], bounds[0]] : at < last ? [bounds[at], bounds[at + 1]] : [bounds[last], bounds[last] ** 2 / bounds[Math.max(last - 1, 0)]];
  const along = high > low ? Math.log(density / low) / Math.log(high / low) : 0;
  return at + Math.min(Math.max(along, 0), 1);
}

/** Limits how fast sizes change: each is at most another one's plus the steps between them. */
function evenOut(size, wide, high) {
  const lower = (k, other, steps) => { if (size[other] + steps < size[k]) size[k] = size[other] + steps; };
  for (let k = 0; k < size.length; k++) {
    if (k % wide) lower(k, k - 1, 1);
    if (k >= wide) lower(k, k - wide, 1);
  }
  for (let k = size.length - 1; k >= 0; k--) {
    if ((k + 1) % wide) lower(k, k + 1, 1);
    if (k < wide * (high - 1)) lower(k, k + wide, 1);
  }
}

/** Means of grid values over a square around each place; an infinite size means the whole grid. */
export function squareMeans(values, size, wide, high) {
  const sums = new Float64Array((wide + 1) * (high + 1));
  for (let j = 0; j < high; j++) {
    for (let i = 0, row = 0; i < wide; i++) {
      row += values[j * wide + i];
      sums[(j + 1) * (wide + 1) + i + 1] = sums[j * (wide + 1) + i + 1] + row;
    }
  }
  const upTo = (x, y) => { // samples at the edge count in part
    const [i, j] = [Math.min(Math.floor(x), wide - 1), Math.min(Math.floor(y), high - 1)];
    const [p, q, at] = [x - i, y - j, j * (wide + 1) + i];
    return (1 - q) * ((1 - p) * sums[at] + p * sums[at + 1]) + q * ((1 - p) * sums[at + wide + 1] + p * sums[at + wide + 2]);
  };
  const means = new Float32Array(values.length);
  for (let j = 0, k = 0; j < high; j++) {
    for (let i = 0; i < wide; i++, k++) {
      const half = size[k] / 2;
      const [left, right] = [Math.max(i + 0.5 - half, 0), Math.min(i + 0.5 + half, wide)];
      const [top, bottom] = [Math.max(j + 0.5 - half, 0), Math.min(j + 0.5 + half, high)];
      means[k] = (upTo(right, bottom) - upTo(left, bottom) - upTo(right, top) + upTo(left, top)) / ((right - left) * (bottom - top));
    }
  }
  return means;
}

const pictures = new WeakMap(); // the last picture of each layer's cells

/** The smooth picture of the visible cells, as {image, bounds} in degrees; null if there is nothing to show. */
export function smoothImage(props, viewport) {
  const {data, bounds, colors, clipX} = props;
  const {longitude, latitude, zoom, width, height} = viewport;
  const asked = JSON.stringify([longitude, latitude, zoom, width, height, bounds, colors, clipX]);
  if (pictures.get(data)?.asked !== asked) pictures.set(data, {asked, shown: drawnSmooth(props, viewport)});
  return pictures.get(data).shown;
}

function drawnSmooth({data, origin, bounds, colors, clipX}, viewport) {
  const {boxes, values, length} = cellTable({data, bounds, raw: false});
  const areas = cellAreas(data.attributes);
  const seen = sight(viewport, origin);
  const [dx, dy] = [AROUND * (seen[2] - seen[0]), AROUND * (seen[3] - seen[1])];
  const wider = [seen[0] - dx, seen[1] - dy, seen[2] + dx, seen[3] + dy];
  const rows = drawnRows(length, boxes, values, wider, {raw: false, zoom: viewport.zoom});
  if (!rows.length) return null;
  const end = (side, most) => rows.reduce((value, row) => most(value, boxes[4 * row + side]), boxes[4 * rows[0] + side]);
  const [west, south] = [0, 1].map(side => Math.max(wider[side], end(side, Math.min)));
  const [east, north] = [2, 3].map(side => Math.min(wider[side], end(side, Math.max)));
  const unit = Math.max(1 / viewport.scale, Math.sqrt((east - west) * (north - south) / SAMPLES));
  const [wide, high] = [(east - west) / unit, (north - south) / unit].map(Math.ceil);
  const place = new Float32Array(wide * high).fill(-1);
  const size = new Float32Array(wide * high).fill(Infinity);
  const clamp = (value, most) => Math.min(Math.max(Math.round(value / unit), 0), most);
  for (const row of rows) {
    const [w, s, e, n] = boxes.subarray(4 * row, 4 * row + 4);
    const at = classPlace(values[4 * row], bounds);
    if (at < 0) continue;
    const side = Math.max(Math.sqrt((e - w) * (n - s) * Math.max(areas.cells[data.attributes.getGroup.value[row]], 1)) / unit, 1);
    for (let j = clamp(north - n, high); j < clamp(north - s, high); j++) {
      place.fill(at, j * wide + clamp(w - west, wide), j * wide + clamp(e - west, wide));
      size.fill(side, j * wide + clamp(w - west, wide), j * wide + clamp(e - west, wide));
    }
  }
  evenOut(size, wide, high);
  const means = squareMeans(place, size, wide, high);
  const image = new ImageData(wide, high);
  const cut = (clipX ?? [-Infinity, Infinity]).map(x => ((x / (window.devicePixelRatio || 1)) / viewport.scale + seen[0] + 1 / viewport.scale - west) / unit);
  means.forEach((mean, k) => {
    const at = Math.min(Math.floor(mean + 1e-4), bounds.length - 1);
    const out = k % wide < cut[0] || k % wide >= cut[1];
    image.data.set(colors[Math.max(at, 0)].slice(0, 3), 4 * k);
    image.data[4 * k + 3] = at < 0 || out ? 0 : 255;
  });
  const corner = (x, y) => degreesOf([origin[0] + x, origin[1] + y]);
  return {image, bounds: [...corner(west, north - high * unit), ...corner(west + wide * unit, north)]};
}
