/** Columns of cells derived from a release's tree in the browser, so that a file need not contain them. */
import {QUIET} from './areas.js';

const WORLD_SIZE = 512;
const EARTH_KM = 6371.0088;
const RAD = Math.PI / 180;
const ALL_LEVELS = 255;

const worldX = lon => WORLD_SIZE * (lon + 180) / 360;
const worldY = lat => WORLD_SIZE * (Math.PI + Math.atanh(Math.sin(Math.min(Math.max(lat, -85.051129), 85.051129) * RAD))) / (2 * Math.PI);

/** First child, level and parent of each node of a breadth-first tree, from the numbers of children. */
export function links(children, roots) {
  const n = children.length;
  const first = new Int32Array(n).fill(-1);
  const level = new Uint8Array(n);
  const parent = new Int32Array(n).fill(-1);
  let next = roots;
  for (let node = 0; node < n; node++) {
    if (!children[node]) continue;
    first[node] = next;
    for (let k = 0; k < children[node]; k++, next++) { parent[next] = node; level[next] = level[node] + 1; }
  }
  return {first, level, parent};
}

/** Boxes {lo, hi} as lattice lines, from the distances of each node to the ends of its parent. */
export function boxes({lo: begins, hi: ends}, parent) {
  const [lo, hi] = [begins.slice(), ends.slice()]; // copies: equal columns of a file share one array
  const dims = lo.length / parent.length;
  for (let i = 0; i < lo.length; i++) {
    const above = parent[Math.floor(i / dims)] * dims + i % dims;
    if (above < 0) continue;
    lo[i] += lo[above];
    hi[i] = hi[above] - hi[i];
  }
  return {lo, hi};
}

/** Noise (sd) of each node's group, which is drawn as one area. Variances add up; with correlated noise standard deviations do. */
function groupNoise({kind, back, variance, noise}) {
  const power = noise ? 0.5 : 1;
  const sums = new Float64Array(kind.length);
  for (let i = 0; i < kind.length; i++) if (kind[i] <= QUIET) sums[i - back[i]] += variance[i] ** power;
  return Float32Array.from(kind, (each, i) => (each <= QUIET ? sums[i - back[i]] : variance[i] ** power) ** (0.5 / power));
}

/** The columns of the cells of `tree` in the form of wire.js, for a domain in degrees and the layer's `origin`. */
export function cellColumns(tree, {lower: [west, south], upper: [east, north], side}, [ox, oy]) {
  const n = tree.count.length;
  const {lo, hi, variance, n_children: children, level, parent, back} = tree;
  const [noise, km2] = [0, 0].map(() => new Float32Array(n));
  const [bounds, last, group, inside] = [new Float32Array(4 * n), new Uint8Array(n), new Int32Array(n), new Int32Array(n)];
  for (let i = n - 1; i >= 0; i--) { // children before their parents, which add them up
    const left = lo[2 * i] / side, low = lo[2 * i + 1] / side, right = hi[2 * i] / side, high = hi[2 * i + 1] / side;
    const w = west * (1 - left) + east * left, e = west * (1 - right) + east * right;
    const s = south * (1 - low) + north * low, t = south * (1 - high) + north * high;
    bounds.set([worldX(w) - ox, worldY(s) - oy, worldX(e) - ox, worldY(t) - oy], 4 * i);
    km2[i] = EARTH_KM ** 2 * (e - w) * RAD * (Math.sin(t * RAD) - Math.sin(s * RAD));
    noise[i] = Math.sqrt(variance[i]);
    last[i] = children[i] ? level[i] : ALL_LEVELS;
    group[i] = i - back[i];
    if (!children[i]) inside[i] = 1;
    if (parent[i] >= 0) inside[parent[i]] += inside[i];
  }
  const {count, kind, since, until} = tree;
  const own = {bounds, count, noise_sd: noise, km2, first: level, last, group, group_sd: groupNoise(tree), inside, kind, since, until};
  return Object.fromEntries(Object.entries(own).map(([name, value]) => [name, {length: n, size: name === 'bounds' ? 4 : 1, value}]));
}
