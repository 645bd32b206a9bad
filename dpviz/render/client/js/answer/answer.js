/**
 * Range counts from a release's tree in the browser: the same walk, snapping to lattice lines,
 * interval and rounding as the engine's `range_count`; a test compares both.
 */
import {h} from '../core/dom.js';
import {halfWidthWords, nearest, percentInterval, withInterval, withinNoise, withNoise} from './numbers.js';

/** The rectangle [west, south, east, north] as lattice lines {lo, hi}; null outside the domain. */
export function lattice(rect, {lower, upper, side}) {
  const line = (value, axis) => {
    const share = (value - lower[axis]) / (upper[axis] - lower[axis]);
    return nearest(Math.min(Math.max(share, 0), 1) * side);
  };
  const axes = [0, 1];
  if (axes.some(k => !(rect[k] < rect[k + 2]) || rect[k] >= upper[k] || rect[k + 2] <= lower[k])) return null;
  return {lo: axes.map(k => line(rect[k], k)), hi: axes.map(k => line(rect[k + 2], k))};
}

/** Variance of a box's count if its cells come from noisy Haar coefficients, of any number of axes: the engine's `haar`. */
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
  return lo.reduce((product, _, k) => product * span(k), variance);
}

/**
 * The answer of a tree to a box {lo, hi} of lattice lines on a lattice of `side` lines per axis; null without a box.
 *
 * `tree` has `roots`, `noise` (null if the nodes' variances add up, else parameters of `haar`) and the
 * columns lo, hi (a number per node and axis), first_child, n_children, count and variance. A part of a
 * period also has `assumed`, the uniformity error of each count; wavelets also have `nonnegative`,
 * counts for the uniformity model where noise makes some negative. A node inside gives its count, a
 * cut leaf its share by area. The uniformity error is the largest that a leaf can have; the part `coherence`
 * of it adds up along an edge. `used` lists the nodes.
 */
export function rangeCount(tree, box, side, interval) {
  if (!box) return null;
  const {lo, hi, first_child: first, n_children: children, count, variance, nonnegative} = tree;
  const dims = box.lo.length;
  const common = (node, k) => Math.max(0, Math.min(hi[dims * node + k], box.hi[k]) - Math.max(lo[dims * node + k], box.lo[k]));
  const size = (node, along) => {
    let product = 1;
    for (let k = 0; k < dims; k++) product *= along(node, k);
    return product;
  };
  const length = (node, k) => hi[dims * node + k] - lo[dims * node + k];
  const used = [];
  const total = {count: 0, variance: 0, uniformity: 0, together: 0, hidden: 0, sum: 0, sumVariance: 0, sumUniformity: 0, sumTogether: 0};
  const open = Array.from({length: tree.roots}, (_, root) => tree.roots - 1 - root);
  while (open.length) {
    const node = open.pop();
    const inside = size(node, common);
    if (!inside) continue;
    const area = size(node, length);
    if (inside < area && children[node]) {
      for (let child = children[node] - 1; child >= 0; child--) open.push(first[node] + child);
      continue;
    }
    const share = inside / area;
    used.push(node);
    total.count += count[node] * share;
    total.variance += variance[node] * share ** 2;
    const held = (nonnegative ?? count)[node];
    const apart = unevenness(held, share) + (tree.assumed ? tree.assumed[node] * share : 0);
    const hidden = unevenness(Math.sqrt(variance[node]), share);
    total.uniformity += apart + (nonnegative ? 0 : hidden);
    total.together += Math.sqrt(apart) - Math.sqrt(unevenness(-held, share));
    if (nonnegative) total.hidden += hidden ** 2;
    if (tree.sum) {
      total.sum += tree.sum[node] * share;
      total.sumVariance += tree.sum_variance[node] * share ** 2;
      const ofSum = unevenness(Math.abs(tree.sum[node]), share);
      total.sumUniformity += ofSum + unevenness(Math.sqrt(tree.sum_variance[node]), share);
      total.sumTogether += Math.sqrt(ofSum);
    }
  }
  total.uniformity += (tree.coherence * Math.max(total.together, 0)) ** 2 + Math.sqrt(2 * total.hidden);
  total.sumUniformity += (tree.coherence * total.sumTogether) ** 2;
  if (tree.noise) total.variance = haarVariance(tree.noise, box, side);
  const sums = tree.sum ? {sum: total.sum, sumNoise: Math.sqrt(total.sumVariance), sumUniformity: Math.sqrt(total.sumUniformity)} : {};
  return {...answerOf(total, interval), used, ...sums};
}

/** Largest variance of the count in a share of a leaf: the engine's `uniformity_variance`. */
export const unevenness = (amount, share) => Math.max(amount, 0) ** 2 * share * (1 - share);

/** An answer from its estimate and variances. */
export function answerOf({count, variance, uniformity}, interval) {
  const noise = Math.sqrt(variance);
  return {
    count, noise, uniformity: Math.sqrt(uniformity),
    low: Math.floor(count - interval * noise), high: Math.ceil(count + interval * noise),
  };
}

/** The sum of answers about disjoint records with independent noise; uniformity errors are not independent and add up. Null if any answer is null. */
export function added(answers, interval) {
  if (answers.includes(null)) return null;
  const sum = (name, power = 1) => answers.reduce((total, each) => total + each[name] ** power, 0);
  const found = answerOf({count: sum('count'), variance: sum('noise', 2), uniformity: sum('uniformity') ** 2}, interval);
  const sums = 'sum' in answers[0] ? {sum: sum('sum'), sumNoise: Math.sqrt(sum('sumNoise', 2)), sumUniformity: sum('sumUniformity')} : {};
  return {...found, used: answers.flatMap(each => each.used), ...sums};
}

/** A quotient a / b of noisy numbers with Fieller's interval, clipped to limits: the engine's `quotients`. */
export function quotient(a, b, [varianceA, varianceB, both], [least, most], interval) {
  const z = interval ** 2;
  const square = b ** 2 - z * varianceB;
  if (!(square > 0 && b > 0)) return {enough: false, low: least, high: most};
  const middle = a * b - z * both;
  const half = Math.sqrt(Math.max(middle ** 2 - square * (a ** 2 - z * varianceA), 0)) / square;
  const [value, low, high] = [a / b, middle / square - half, middle / square + half].map(each => Math.min(Math.max(each, least), most));
  return {enough: true, value, low, high};
}

/** One answer's share of the records of all answers: the engine's `share_of`. */
export function shareOf(one, every, interval) {
  const of = each => each.noise ** 2 + each.uniformity ** 2;
  const sum = value => every.reduce((total, each) => total + value(each), 0);
  return quotient(one.count, sum(each => each.count), [of(one), sum(of), of(one)], [0, 1], interval);
}

/** The mean of values: the engine's `mean_of`; `alike` is the correlation of both uniformity errors. */
export function meanOf({count, noise, uniformity, sum, sumNoise, sumUniformity}, {limits, alike}, interval) {
  const errors = [sumNoise ** 2 + sumUniformity ** 2, noise ** 2 + uniformity ** 2, alike * sumUniformity * uniformity];
  return quotient(sum, count, errors, limits, interval);
}

/** "42 % (38 to 46 %)" or "12.1 (11.8 to 12.4)"; a text without numbers if there are too few records. */
export function quotientWords({enough, value, low, high}, percent = false) {
  if (!enough) return 'too few records';
  return percent ? percentInterval(value, low, high) : withInterval(value, low, high);
}

/** Outlines of nodes as closed rings in degrees, for a domain in degrees; the first two axes are those of the map. */
export function nodeRings({lo, hi, count}, nodes, {lower, upper, side}) {
  const at = (line, k) => lower[k] * (1 - line / side) + upper[k] * (line / side);
  const dims = lo.length / count.length;
  return nodes.map(node => {
    const [w, s] = [0, 1].map(k => at(lo[dims * node + k], k));
    const [e, n] = [0, 1].map(k => at(hi[dims * node + k], k));
    return [[w, s], [e, s], [e, n], [w, n], [w, s]];
  });
}

/** Half of the 95 % interval of the noise. */
const halfWidth = ({low, high}) => (high - low) / 2;

/** ± of a count shown alone: half of the 95 % interval for the noise and the error from cut cells. */
const totalError = (answer, interval) => Math.hypot(halfWidth(answer), interval * answer.uniformity);

/** An answer as an element. */
export function answerElement(name, answer, interval, values = null) {
  const spread = interval * answer.uniformity;
  const row = (term, text) => [h('dt', {}, term), h('dd', {}, text)];
  const noun = answer.noun ?? 'cells';
  const sums = values && 'sum' in answer ? [
    ...row(`Sum of ${values.column}`, withNoise(answer.sum, interval * Math.hypot(answer.sumNoise, answer.sumUniformity))),
    ...row(`Mean of ${values.column}`, quotientWords(meanOf(answer, values, interval))),
  ] : [];
  return h('div', {class: 'answer', 'data-testid': 'dpviz-answer'},
    h('h2', {class: 'small'}, name),
    h('p', {class: 'count'}, withNoise(answer.count, totalError(answer, interval))),
    h('dl', {},
      ...row('Noise alone', `± ${halfWidthWords(halfWidth(answer))} (95 %)`),
      ...spread > 0 ? row(`Where it cuts ${noun}`, `± ${halfWidthWords(spread)} (estimate)`) : [],
      ...sums,
      ...row('Built from', `${answer.used.length.toLocaleString('en')} ${answer.used.length === 1 ? noun.replace(/s$/, '') : noun}`)));
}

/** A table of answers {name, answer, share, now, show}, each with its share in words, or with a dot and its ± as a bar on one scale, and a line at zero if the scale has it; its name is a button that shows its map, marked as current where the map shows it `now`. Answers not larger than their ± are grey. */
export function answerTable(rows, interval, caption) {
  const ends = rows.map(({answer}) => totalError(answer, interval)).map((error, at) => [rows[at].answer.count - error, rows[at].answer.count + error]);
  const low = Math.min(...ends.map(([from]) => from));
  const high = Math.max(...ends.map(([, to]) => to), low + 1e-9);
  const share = value => 100 * (value - low) / (high - low);
  const words = rows.map(({answer}) => withNoise(answer.count, totalError(answer, interval)));
  return h('table', {class: 'all', 'data-testid': 'dpviz-all'}, h('caption', {}, caption, words.some(withinNoise) ? h('span', {class: 'noise'}, ' (grey: not larger than its ±)') : ''), h('tbody', {}, ...rows.map(({name, share: part, now, show}, at) => h('tr', {class: withinNoise(words[at]) && 'noise'},
    h('th', {scope: 'row'}, h('button', {type: 'button', 'aria-current': now && 'true', onclick: show}, name)),
    h('td', {class: 'number'}, words[at]),
    part ? h('td', {class: 'number'}, part) : h('td', {class: 'bar'}, h('b', {hidden: low > 0 || high < 0, style: `left:${share(0)}%`}), h('i', {style: `left:${share(ends[at][0])}%;right:${100 - share(ends[at][1])}%`}))))));
}
