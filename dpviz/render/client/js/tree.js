/** What a map draws of a release's tree: most of it is worked out here, so that a file need not carry it. */

const WORLD_SIZE = 512;
const EARTH_KM = 6371.0088;
const RAD = Math.PI / 180;
const ALL_LEVELS = 255;

const worldX = lon => WORLD_SIZE * (lon + 180) / 360;
const worldY = lat => WORLD_SIZE * (Math.PI + Math.atanh(Math.sin(Math.min(Math.max(lat, -85.051129), 85.051129) * RAD))) / (2 * Math.PI);

/** First children and levels of a breadth-first tree, from how many children each node has. */
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

/** The columns of the cells of `tree` as wire.js has them, for a domain in degrees and the layer's `origin`. */
export function cellColumns(tree, {lower, upper, side}, [ox, oy]) {
  const {lo, hi, count, variance, n_children: children, level, parent} = tree;
  const n = count.length;
  const at = (line, k) => lower[k] * (1 - line / side) + upper[k] * (line / side);
  const own = {
    bounds: new Float32Array(4 * n), count: Float32Array.from(count), noise_sd: new Float32Array(n), km2: new Float32Array(n),
    first: level, last: new Uint8Array(n), group: new Int32Array(n), group_sd: new Float32Array(n), inside: new Int32Array(n),
    kind: tree.kind, since: tree.since, until: tree.until,
  };
  for (let i = n - 1; i >= 0; i--) {
    const [w, s, e, north] = [at(lo[2 * i], 0), at(lo[2 * i + 1], 1), at(hi[2 * i], 0), at(hi[2 * i + 1], 1)];
    own.bounds.set([worldX(w) - ox, worldY(s) - oy, worldX(e) - ox, worldY(north) - oy], 4 * i);
    own.km2[i] = EARTH_KM ** 2 * (e - w) * RAD * (Math.sin(north * RAD) - Math.sin(s * RAD));
    own.noise_sd[i] = Math.sqrt(variance[i]);
    own.last[i] = children[i] ? level[i] : ALL_LEVELS;
    own.group[i] = i - tree.back[i];
    own.group_sd[i] = tree.merged_sd[i] || own.noise_sd[i];
    own.inside[i] ||= 1; // a leaf; the others have been counted by their children
    if (parent[i] >= 0) own.inside[parent[i]] += own.inside[i];
  }
  return Object.fromEntries(Object.entries(own).map(([name, value]) => [name, {length: n, size: name === 'bounds' ? 4 : 1, value}]));
}
