/**
 * A canvas above the map that shows where one is: place names, the frame of the public area,
 * the scale bar, degrees along the edges, the outline of a merged area. Saved pictures have it too.
 */
import {h} from '../core/dom.js';
import {degreesOf, WORLD} from '../core/mercator.js';
import {css} from '../core/palette.js';

const MAX_NAMES = 12;
const ROOM_ASPECT = 3; // width of the room for an area's name, in heights: as in names.py
const MOST_AREAS = 0.7; // a form is used if it fits this share of the areas that any form fits
const LINE = 15; // pixels from one line of a name to the next
const EARLIER = 1; // zooms before its own from which a name is drawn where there is room
const SPOT = 5; // pixels around a place that stands out, which no name covers
const MAX_BOLD = 3; // with more large places in view, no name is bold; so many towns are named beside areas
const DEGREES_ZOOM = 9; // from here on the bundled coast is hidden, and degrees replace it
const SAME_SCALE = 1.2; // largest ratio of scales in view of which one bar says enough
const NICE = [1, 2, 5];

/** A bar of 1, 2 or 5 times a power of ten metres, at most 130 pixels long. */
export function scaleBar(metresPerPixel, text = 1) {
  const wanted = 130 * metresPerPixel * text;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const metres = NICE.findLast(k => k * power <= wanted) * power;
  const words = metres >= 1000 ? `${(metres / 1000).toLocaleString('en')} km` : `${metres.toLocaleString('en')} m`;
  return {pixels: metres / metresPerPixel, words};
}

/** Degrees with the letter of the hemisphere: 23.85° S. */
export function degreesText(value, [positive, negative], digits) {
  const turned = value - 360 * (Math.abs(value) > 180 ? Math.sign(value) : 0); // beyond the meridian of 180°
  return `${Math.abs(turned).toFixed(digits)}° ${turned < 0 ? negative : positive}`;
}

/** Latitude at which a scale holds, where it differs by more than a fifth between others in view: " at 48° N". */
export function latitudeWords(latitude, [north, south]) {
  const [most, least] = [north, south].map(each => Math.cos(each * Math.PI / 180)).sort((a, b) => b - a);
  if ((north > 0 && south < 0 ? 1 : most) <= SAME_SCALE * least) return '';
  return Math.abs(latitude) < 0.5 ? ' at the equator' : ` at ${degreesText(latitude, 'NS', 0)}`;
}

export class Surround {
  constructor(app) {
    this.app = app;
    this.canvas = h('canvas', {class: 'surround', 'aria-hidden': 'true'});
    app.root.append(this.canvas);
  }

  /** Draws for the current viewports; `scale` is the device pixel ratio. */
  draw() {
    const {app, canvas} = this;
    const {width, height} = app.size();
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const pen = canvas.getContext('2d');
    pen.clearRect(0, 0, canvas.width, canvas.height);
    this.paint(pen, app.camera ? app.sight.viewports : [], scale, this.enlarged, app.controls.boxes());
  }

  /** Enlargement of words and lines: the style sheet enlarges the buttons by the same factor. */
  get enlarged() {
    return Number(getComputedStyle(this.app.root).getPropertyValue('--map-zoom')) || 1;
  }

  /** Draws onto any canvas, with no name in the `covered` boxes: those of buttons and of the ground's credit. */
  paint(pen, viewports, scale, text = 1, covered = []) {
    this.text = text;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    for (const viewport of viewports) {
      pen.save();
      pen.beginPath();
      pen.rect(viewport.x, viewport.y, viewport.width, viewport.height);
      pen.clip();
      pen.translate(viewport.x, viewport.y);
      this.frame(pen, viewport);
      this.outline(pen, viewport);
      const plane = this.app.sceneSpec?.plane;
      const named = this.names(pen, viewport, this.app.bound.places(), covered);
      if (!named && !plane && viewport.zoom >= DEGREES_ZOOM) this.degrees(pen, viewport, covered);
      if (!plane) this.bar(pen, viewport);
      pen.restore();
    }
  }

  frame(pen, viewport) {
    const {domain, theme} = this.app;
    if (!domain) return;
    const [x0, y0] = viewport.project([domain[0], domain[3]]);
    const [x1, y1] = viewport.project([domain[2], domain[1]]);
    pen.setLineDash([4, 3]);
    pen.lineWidth = 1;
    pen.strokeStyle = css(theme.frame);
    pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
    pen.setLineDash([]);
  }

  outline(pen, viewport) {
    const {hovered} = this.app;
    if (!hovered?.boxes.length) return;
    const [ox, oy] = hovered.origin;
    pen.setLineDash([3, 2]);
    pen.lineWidth = 1.5;
    pen.strokeStyle = css(this.app.accent);
    for (const [w, s, e, n] of hovered.boxes) {
      const [[x0, y0], [x1, y1]] = [[w, n], [e, s]].map(([x, y]) => viewport.project(degreesOf([ox + x, oy + y])));
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
    pen.setLineDash([]);
  }

  /** Draws names, those of areas and then those of larger places first, and returns their number. A name is left out if every position overlaps another one. */
  names(pen, viewport, places, covered) {
    const k = this.text;
    const {theme, sight: {visited}} = this.app;
    const inView = ([x0, y0, x1, y1]) => [x0 - viewport.x, y0 - viewport.y, x1 - viewport.x, y1 - viewport.y];
    const taken = [[viewport.width - 170 * k, viewport.height - 40 * k, viewport.width, viewport.height], ...covered.map(inView)];
    const free = ([x0, y0, x1, y1]) => x0 >= 0 && y0 >= 0 && x1 <= viewport.width && y1 <= viewport.height
      && !taken.some(t => x0 < t[2] && t[0] < x1 && y0 < t[3] && t[1] < y1);
    const here = places.filter(({from}) => viewport.zoom >= from - EARLIER)
      .map(place => ({...place, at: viewport.project([place.lon, place.lat])}))
      .filter(({at: [x, y]}) => x > 0 && y > 0 && x < viewport.width && y < viewport.height)
      .sort((a, b) => (b.name === visited) - (a.name === visited) || a.rank - b.rank);
    const densest = here.filter(({from}) => from === -Infinity);
    taken.push(...densest.map(({at: [x, y]}) => [x - SPOT * k, y - SPOT * k, x + SPOT * k, y + SPOT * k]));
    const reserved = taken.length;
    const [areas, towns] = [true, false].map(isArea => here.filter(({room}) => isArea === (room !== undefined)));
    const large = towns.filter(({rank}) => rank <= 1).length <= MAX_BOLD ? 1 : -Infinity;
    const drawn = (found, {at: [x, y], dot}) => {
      if (!found) return false;
      taken.push(found.box);
      if (dot || found.aside) {
        pen.beginPath();
        pen.arc(x, y, 2 * k, 0, 7);
        pen.fillStyle = css(theme.text, 0.8);
        pen.fill();
      }
      found.lines.forEach((line, i) => this.words(pen, line, found.x, found.y + i * LINE * k));
      return true;
    };
    pen.textAlign = 'center';
    pen.lineJoin = 'round';
    pen.font = this.sized(12, 500);
    const forms = areas.map(area => this.within(pen, area, area.room * viewport.scale));
    const many = forms.reduce((sum, each) => sum.map((count, at) => count + Boolean(each[at])), [0, 0, 0]);
    const form = many.findIndex(count => count >= MOST_AREAS * Math.max(...many)); // one for all, or a number would stand beside a name
    const named = areas.filter((area, at) => drawn([forms[at][form]].find(each => each && free(each.box)), area)).length;
    let left = Math.max(MAX_NAMES - named, MAX_BOLD, densest.length);
    for (const town of towns) {
      if (!left) break;
      pen.font = town.rank <= large || town.name === visited ? this.sized(14, 600) : town.rank <= 3 ? this.sized(12, 500) : this.sized(11);
      left -= drawn(this.around(pen, town).find(({box}) => free(box)), town);
    }
    return taken.length - reserved;
  }

  /** Positions of a place's name: close above or below it, or beside its dot; of a fixed one, on it or half a line away. */
  around(pen, {name, at: [x, y], fixed}) {
    const k = this.text;
    const half = pen.measureText(name).width / 2;
    const aside = half + 4 + (SPOT + 1) * k;
    const tries = fixed ? [4, 13, -5].map(down => [0, down]) : [[0, -9], [0, 19], [aside, 4], [-aside, 4]];
    return tries.map(([right, down]) => ({lines: [name], x: x + right, y: y + down * k, aside: right !== 0,
      box: [x + right - half - 4, y + (down - 13) * k, x + right + half + 4, y + (down + 4) * k]}));
  }

  /** Forms of an area's name: above its number; the name alone, unless it looks like a number; the number alone. A form that leaves its room, in pixels, is missing. */
  within(pen, {name, at: [x, y]}, room) {
    const k = this.text;
    const [title, number] = name.split('\n');
    return [[title, number], /\p{L}/u.test(title) ? [title] : [], [number]].map(lines => {
      const wide = Math.max(...lines.map(line => pen.measureText(line).width)) + 8;
      const high = (lines.length * LINE + 2) * k;
      const top = y - high / 2;
      const fits = lines.length && wide <= room && high <= room / ROOM_ASPECT;
      return fits && {lines, x, y: top + 13 * k, box: [x - wide / 2, top, x + wide / 2, top + high]};
    });
  }

  font() {
    return getComputedStyle(this.app.root).fontFamily || 'sans-serif';
  }

  sized(pixels, weight = 400) {
    return `${weight} ${pixels * this.text}px ${this.font()}`;
  }

  words(pen, text, x, y) {
    const {theme} = this.app;
    pen.lineWidth = 4 * this.text;
    pen.strokeStyle = css(theme.halo, 0.95);
    pen.strokeText(text, x, y);
    pen.fillStyle = css(theme.text);
    pen.fillText(text, x, y);
  }

  /** Ticks with degrees along the lower and the left edge, for maps without names. */
  degrees(pen, viewport, covered) {
    const {theme} = this.app;
    const [west, south, east, north] = viewport.getBounds();
    const power = 10 ** Math.floor(Math.log10((east - west) / 5));
    const step = NICE.findLast(k => k * power <= (east - west) / 5) * power;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    pen.font = this.sized(10.5);
    pen.textAlign = 'center';
    const line = (x0, y0, x1, y1) => {
      Object.assign(pen, {lineWidth: 1, strokeStyle: css(theme.frame, 0.7)});
      pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke();
    };
    const below = covered.filter(([, , , bottom]) => bottom > viewport.y + viewport.height - 24);
    for (let lon = Math.ceil(west / step) * step; lon < east; lon += step) {
      const [x] = viewport.project([lon, south]);
      const hidden = below.some(([left, , right]) => x > left - viewport.x - 30 * this.text && x < right - viewport.x + 30 * this.text);
      if (x < 60 * this.text || x > viewport.width - 190 * this.text || hidden) continue;
      line(x, viewport.height, x, viewport.height - 5);
      this.words(pen, degreesText(lon, 'EW', digits), x, viewport.height - 9 * this.text);
    }
    pen.textAlign = 'left';
    for (let lat = Math.ceil(south / step) * step; lat < north; lat += step) {
      const [, y] = viewport.project([west, lat]);
      if (y < 110 || y > viewport.height - 24) continue;
      line(0, y, 5, y);
      this.words(pen, degreesText(lat, 'NS', digits), 9, y + 4);
    }
  }

  bar(pen, viewport) {
    const metres = Math.cos(viewport.latitude * Math.PI / 180) * 40_075_017 / (WORLD * 2 ** viewport.zoom);
    const k = this.text;
    const {pixels, words} = scaleBar(metres, k);
    const text = words + latitudeWords(viewport.latitude, [0, viewport.height].map(y => viewport.unproject([0, y])[1]));
    const right = viewport.width - 14 * k;
    const y = viewport.height - 14 * k;
    pen.font = this.sized(11.5);
    for (const [width, colour] of [[4, css(this.app.theme.halo, 0.85)], [1.6, css(this.app.theme.text)]]) {
      pen.lineWidth = width * k;
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.moveTo(right - pixels, y - 6 * k);
      pen.lineTo(right - pixels, y);
      pen.lineTo(right, y);
      pen.lineTo(right, y - 6 * k);
      pen.stroke();
    }
    pen.textAlign = 'right'; // in the middle of the bar, but no further right than its end
    const over = pixels - pen.measureText(text).width;
    this.words(pen, text, right - Math.max(over, 0) / 2, y - (over < 0 ? 9 : 5) * k);
  }
}
