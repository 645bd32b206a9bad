/**
 * Range counts from a release's tree in the browser: the walk, the snapping to lattice lines, the
 * interval and the rounding of the engine's `dpviz.query`, which a test compares it with.
 */
import {h} from './dom.js';
import {intervalWords, roundedTo, withNoise} from './numbers.js';

/** To the nearest integer, halves to the even one, as NumPy does; for what is not negative. */
function nearest(value) {
  const result = Math.round(value);
  return value % 1 === 0.5 && result % 2 ? result - 1 : result;
}

/** The rectangle [west, south, east, north] as lattice lines {lo, hi}; null outside the domain. */
function lattice(rect, {lower, upper, side}) {
  const line = (value, axis) => {
    const share = (value - lower[axis]) / (upper[axis] - lower[axis]);
    return nearest(Math.min(Math.max(share, 0), 1) * side);
  };
  const axes = [0, 1];
  if (axes.some(k => !(rect[k] < rect[k + 2]) || rect[k] >= upper[k] || rect[k + 2] <= lower[k])) return null;
  return {lo: axes.map(k => line(rect[k], k)), hi: axes.map(k => line(rect[k + 2], k))};
}

/** Variance of a box's count whose cells come from noisy Haar coefficients: `dpviz.haar`. */
function haarVariance({variance, cells}, {lo, hi}, side) {
  const weight = (line, length) => Math.min(line % length, length - line % length) / length;
  const span = k => {
    let found = ((hi[k] - lo[k]) / side) ** 2;
    for (let length = side; length > side / cells; length /= 2) {
      const [start, end] = [weight(lo[k], length), weight(hi[k], length)];
      const same = Math.floor(lo[k] / length) === Math.floor(hi[k] / length);
      found += same ? (end - start) ** 2 : start ** 2 + end ** 2;
    }
    return found;
  };
  return variance * span(0) * span(1);
}

/**
 * The answer of a tree to a rectangle, null outside the domain.
 *
 * `tree` has `roots`, `noise` (null where the nodes' variances add up, else that of `dpviz.haar`)
 * and the columns lo, hi (two numbers a node), first_child, n_children, count and variance. A node
 * inside gives its count, a leaf that is cut the share of its area; the uniformity error is the
 * engine's Beta model, of which the part `coherence` adds up along an edge. `used` are the nodes.
 */
export function rangeCount(tree, rect, domain, interval) {
  const box = lattice(rect, domain);
  if (!box) return null;
  const {lo, hi, first_child: first, n_children: children, count, variance} = tree;
  const common = (node, k) => Math.max(0, Math.min(hi[2 * node + k], box.hi[k]) - Math.max(lo[2 * node + k], box.lo[k]));
  const used = [];
  const total = {count: 0, variance: 0, uniformity: 0, together: 0};
  const open = Array.from({length: tree.roots}, (_, root) => tree.roots - 1 - root);
  while (open.length) {
    const node = open.pop();
    const inside = common(node, 0) * common(node, 1);
    if (!inside) continue;
    const area = (hi[2 * node] - lo[2 * node]) * (hi[2 * node + 1] - lo[2 * node + 1]);
    if (inside < area && children[node]) {
      for (let child = children[node] - 1; child >= 0; child--) open.push(first[node] + child);
      continue;
    }
    const share = inside / area;
    used.push(node);
    total.count += count[node] * share;
    total.variance += variance[node] * share ** 2;
    const apart = Math.max(count[node], 0) ** 2 * share * (1 - share) / 3;
    total.uniformity += apart;
    total.together += Math.sqrt(apart);
  }
  const noise = Math.sqrt(tree.noise ? haarVariance(tree.noise, box, domain.side) : total.variance);
  return {
    count: total.count, noise, used,
    uniformity: Math.sqrt(total.uniformity + (tree.coherence * total.together) ** 2),
    low: Math.floor(total.count - interval * noise), high: Math.ceil(total.count + interval * noise),
  };
}

/** Outlines of nodes as closed rings in degrees, for a domain in degrees. */
export function nodeRings({lo, hi}, nodes, {lower, upper, side}) {
  const at = (line, k) => lower[k] * (1 - line / side) + upper[k] * (line / side);
  return nodes.map(node => {
    const [w, s] = [0, 1].map(k => at(lo[2 * node + k], k));
    const [e, n] = [0, 1].map(k => at(hi[2 * node + k], k));
    return [[w, s], [e, s], [e, n], [w, n], [w, s]];
  });
}

/** An answer in words. */
export function answerElement(name, answer, interval) {
  const half = interval * answer.noise;
  const spread = interval * answer.uniformity;
  const row = (term, text) => [h('dt', {}, term), h('dd', {}, text)];
  return h('div', {class: 'answer', 'data-testid': 'dpviz-answer'},
    h('h3', {}, name),
    h('p', {class: 'count'}, withNoise(answer.count, half)),
    h('dl', {},
      ...row('95 % interval (noise)', intervalWords(answer.count, half)),
      ...row('Error from cut cells (estimate)', `± ${roundedTo(spread, spread)}`),
      ...row('Built from', `${answer.used.length.toLocaleString('en')} cells`)));
}

/** The answers of a whole series, with a bar of each interval on one scale; a name shows its map. */
export function answerTable(names, answers, interval, now, show, caption = 'At every ε') {
  const ends = answers.map(({count, noise}) => [count - interval * noise, count + interval * noise]);
  const low = Math.min(...ends.map(([from]) => from));
  const high = Math.max(...ends.map(([, to]) => to), low + 1e-9);
  const share = value => 100 * (value - low) / (high - low);
  return h('table', {class: 'all', 'data-testid': 'dpviz-all'}, h('caption', {}, caption), h('tbody', {}, ...names.map((name, at) => h('tr', {class: now.includes(at) ? 'now' : ''},
    h('th', {scope: 'row'}, h('button', {type: 'button', onclick: () => show(at)}, name)),
    h('td', {class: 'number'}, withNoise(answers[at].count, interval * answers[at].noise)),
    h('td', {class: 'bar'}, h('i', {style: `left:${share(ends[at][0])}%;right:${100 - share(ends[at][1])}%`}))))));
}
