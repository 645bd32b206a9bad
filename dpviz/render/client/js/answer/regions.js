/**
 * Counts of rectangles from a release of areas, as the engine computes them: the coarsest areas inside
 * the rectangle, and a share by surface of each area that its edge cuts.
 */
import {answerOf, lattice, unevenness} from './answer.js';

const SLIVER = 1e-6; // a smaller share comes from rounded corners, where a rectangle follows an area's edge

/** The part of a ring [[x, y], …] on one side of a line; several pieces stay connected along that line. */
function cut(ring, axis, line, sign) {
  const left = [];
  for (let i = 0; i < ring.length; i++) {
    const [a, b] = [ring[i], ring[(i + 1) % ring.length]];
    const [p, q] = [sign * (a[axis] - line), sign * (b[axis] - line)];
    if (p >= 0) left.push(a);
    if (p * q < 0) left.push([0, 1].map(k => a[k] + p / (p - q) * (b[k] - a[k])));
  }
  return left;
}

/** The surface that a ring encloses. */
function surface(ring) {
  let twice = 0;
  for (let i = 1; i + 1 < ring.length; i++) {
    const [[x, y], a, b] = [ring[0], ring[i], ring[i + 1]];
    twice += (a[0] - x) * (b[1] - y) - (b[0] - x) * (a[1] - y);
  }
  return Math.abs(twice) / 2;
}

export class Regions {
  /** Areas with counts for one period or, with `frames`, for each step. */
  constructor({starts, steps, frames}, columns, domain) {
    const of = name => columns[`areas.${name}`].value;
    const {value: xy, startIndices} = columns['areas.xy'];
    const times = Array.from({length: frames}, (_, at) => ({totals: of(`count${at}`), variance: of(`variance${at}`)}));
    Object.assign(this, {starts, steps, domain, times, parent: of('parent')});
    this.first = starts.at(-1);
    this.shapes = Array.from({length: this.parent.length - this.first}, () => ({rings: [], surface: 0, box: [Infinity, Infinity, -Infinity, -Infinity]}));
    of('owner').forEach((owner, at) => {
      const ring = [];
      const {box, rings} = this.shapes[owner];
      for (let i = startIndices[at]; i < startIndices[at + 1]; i++) {
        const corner = [xy[2 * i], xy[2 * i + 1]];
        ring.push(corner);
        for (const k of [0, 1]) [box[k], box[k + 2]] = [Math.min(box[k], corner[k]), Math.max(box[k + 2], corner[k])];
      }
      rings.push({ring, sign: of('hole')[at] ? -1 : 1});
    });
    for (const shape of this.shapes) shape.surface = shape.rings.reduce((sum, {ring, sign}) => sum + sign * surface(ring), 0);
  }

  /** The answer for each step, null outside the domain. */
  counts(rect, interval) {
    const box = lattice(rect, this.domain);
    if (!box) return this.times.map(() => null);
    const [lo, hi] = [box.lo, box.hi].map(lines => lines.map(line => line / this.domain.side * this.steps));
    const share = this.shares(lo, hi);
    return this.times.map(time => this.count(share, time, interval));
  }

  /** The count of one area at each time. Ends of its interval are not whole numbers, as in tables of areas and in the map's labels. */
  area(row, interval) {
    return this.times.map(({totals, variance}) => {
      const [count, noise] = [totals[row], Math.sqrt(variance[row])];
      return {count, noise, uniformity: 0, low: count - interval * noise, high: count + interval * noise, used: [row], noun: 'areas'};
    });
  }

  /** Number of the level of an area; the coarsest level is 0. */
  level(row) {
    return this.starts.findLastIndex(start => start <= row);
  }

  /** Outline of an area as lines in degrees: sides that only one of the finest areas inside it has. */
  outline(row) {
    const {lower, upper} = this.domain;
    const degrees = corner => corner.map((value, k) => lower[k] + value / this.steps * (upper[k] - lower[k]));
    const within = at => { // areas come before those within them
      let area = this.first + at;
      while (area > row) area = this.parent[area];
      return area === row;
    };
    const sides = new Map();
    for (const {ring} of this.shapes.filter((_, at) => within(at)).flatMap(({rings}) => rings)) {
      ring.forEach((a, i) => {
        const b = ring[(i + 1) % ring.length];
        const key = [a, b].map(String).sort().join();
        if (!sides.delete(key)) sides.set(key, [a, b].map(degrees));
      });
    }
    return [...sides.values()];
  }

  count(share, {totals, variance}, interval) {
    const answer = {count: 0, variance: 0, uniformity: 0};
    const used = [];
    share.forEach((part, row) => {
      if (!part) return;
      used.push(row);
      answer.count += part * totals[row];
      answer.variance += part ** 2 * variance[row];
      answer.uniformity += unevenness(totals[row], part) + unevenness(Math.sqrt(variance[row]), part);
    });
    return {...answerOf(answer, interval), used, noun: 'areas'};
  }

  shares(lo, hi) {
    const {starts, parent} = this;
    const share = new Float64Array(parent.length);
    this.shapes.forEach((shape, at) => {
      const inside = this.inside(shape, lo, hi) / shape.surface;
      share[this.first + at] = inside > 1 - SLIVER ? 1 : inside < SLIVER ? 0 : inside;
    });
    for (let level = starts.length - 1; level > 0; level--) {
      const [from, to] = [starts[level], starts[level + 1] ?? parent.length];
      share.fill(1, starts[level - 1], from);
      for (let row = from; row < to; row++) if (share[row] < 1) share[parent[row]] = 0;
      for (let row = from; row < to; row++) if (share[parent[row]] === 1) share[row] = 0;
    }
    return share;
  }

  inside({rings, surface: whole, box}, lo, hi) {
    if ([0, 1].some(k => box[k] >= hi[k] || box[k + 2] <= lo[k])) return 0;
    if ([0, 1].every(k => box[k] >= lo[k] && box[k + 2] <= hi[k])) return whole;
    return rings.reduce((sum, {ring, sign}) => {
      let left = ring;
      for (const k of [0, 1]) left = cut(cut(left, k, lo[k], 1), k, hi[k], -1);
      return sum + sign * surface(left);
    }, 0);
  }
}
