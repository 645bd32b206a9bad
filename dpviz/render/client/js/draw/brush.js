/**
 * A scene's layers on a 2-D canvas, in the order, colours and widths that deck.gl gives them.
 *
 * Each brush takes the canvas context in CSS pixels, a viewport, a layer's properties, and the device pixel ratio.
 * Trips are painted whole, once their clock has left its start: the map of deck.gl begins empty.
 */
import {cellTable, drawnRows, sight} from './cells.js';
import {h} from '../core/dom.js';
import {count, pixelsOf, reader} from '../core/objects.js';
import {css} from '../core/palette.js';

const visible = opacity => opacity ** (1 / 2.2); // deck.gl's shaders apply the same exponent

/** Calls call(i, first vertex, points) for each line or ring, with its corners in pixels. */
function eachLine(props, name, viewport, call) {
  const {data} = props;
  const bound = data?.attributes?.[name];
  const given = props[name];
  for (let i = 0; i < count(props); i++) {
    if (!bound) {
      call(i, i, given(data[i]).map(point => viewport.project(point)));
      continue;
    }
    const [start, end] = [data.startIndices[i], data.startIndices[i + 1]];
    const points = [];
    for (let k = start; k < end; k++) points.push(viewport.project([bound.value[bound.size * k], bound.value[bound.size * k + 1]]));
    call(i, start, points);
  }
}

function trace(pen, points) {
  points.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
}

/** Paints consecutive lines or rings of one style together: triangles filled one by one would show seams. */
function paintRuns(pen, viewport, props, name, lookOf, paint) {
  let look = null;
  eachLine(props, name, viewport, (i, vertex, points) => {
    const next = lookOf(i, vertex);
    if (look !== next) {
      if (look) paint(...look.split(' '));
      look = next;
      pen.beginPath();
    }
    trace(pen, points);
  });
  if (look) paint(...look.split(' '));
}

function paintPaths(pen, viewport, props) {
  const [colour, width, pixels] = [reader(props, 'getColor', [0, 0, 0]), reader(props, 'getWidth', 1), pixelsOf(viewport, props, 'width')];
  Object.assign(pen, {lineJoin: props.jointRounded ? 'round' : 'miter', lineCap: props.capRounded ? 'round' : 'butt'});
  paintRuns(pen, viewport, props, 'getPath', (i, vertex) => `${css(colour(i, vertex), visible(props.opacity))} ${pixels(width(i, vertex))}`, (strokeStyle, lineWidth) => {
    Object.assign(pen, {strokeStyle, lineWidth});
    pen.stroke();
  });
}

function paintPolygons(pen, viewport, props) {
  const colour = reader(props, 'getFillColor', [0, 0, 0]);
  paintRuns(pen, viewport, props, 'getPolygon', (i, vertex) => css(colour(i, vertex), visible(props.opacity)), fillStyle => {
    pen.fillStyle = fillStyle;
    pen.fill();
  });
}

function paintPoints(pen, viewport, props) {
  const [place, radius, fill] = [reader(props, 'getPosition'), reader(props, 'getRadius', 1), reader(props, 'getFillColor', [0, 0, 0])];
  const pixels = pixelsOf(viewport, props, 'radius');
  for (let i = 0; i < count(props); i++) {
    pen.beginPath();
    pen.arc(...viewport.project(place(i)), pixels(radius(i)), 0, 7);
    pen.fillStyle = css(fill(i), visible(props.opacity));
    pen.fill();
  }
}

/** Stripes of the current colour on a faint cell. */
function paintStripes(pen, x, y, wide, high) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, wide, high);
  pen.clip();
  pen.beginPath();
  for (let k = -high; k < wide; k += 5) trace(pen, [[x + k, y], [x + k + 2.5, y], [x + k + 2.5 + high, y + high], [x + k + high, y + high]]);
  pen.fill();
  pen.restore();
}

/** Paints the cells of a release, aligned to device pixels. */
function paintCells(pen, viewport, props, ratio) {
  const {origin, raw, depth, bounds, colors, signed, hatched, clipX} = props;
  if (!count(props) || props.unseen) return;
  const {length, boxes, values} = cellTable(props);
  const rows = drawnRows(length, boxes, values, sight(viewport, origin), {raw, depth, zoom: viewport.zoom});
  const whole = value => Math.ceil(value * ratio - 0.5) / ratio;
  const below = (raw || hatched) && !signed && css(props.hatchColor.slice(0, 3));
  if (clipX) {
    pen.beginPath();
    pen.rect(clipX[0] / ratio, 0, (clipX[1] - clipX[0]) / ratio, viewport.height);
    pen.clip();
  }
  const fills = colors.map(colour => css(colour));
  for (const row of rows) {
    const value = values[4 * row];
    let shade = bounds.reduce((passed, bound) => passed + (value >= bound), -1);
    if (signed) shade = shade === 3 ? -1 : shade + 1;
    const hatch = below && value < 0;
    if (shade < 0 && !hatch) continue;
    const [left, bottom] = viewport.pixels([origin[0] + boxes[4 * row], origin[1] + boxes[4 * row + 1]]);
    const [right, top] = viewport.pixels([origin[0] + boxes[4 * row + 2], origin[1] + boxes[4 * row + 3]]);
    const [x, y] = [whole(left), whole(top)];
    const [wide, high] = [whole(right) - x, whole(bottom) - y];
    pen.globalAlpha = hatch ? 0.25 : values[4 * row + 1] * visible(props.opacity);
    pen.fillStyle = hatch ? below : fills[shade];
    pen.fillRect(x, y, wide, high);
    if (!raw && values[4 * row + 1] < 1 && Math.min(wide, high) > 6) paintStripes(pen, x, y, wide, high);
  }
}

function paintBitmap(pen, viewport, {image, bounds: [west, south, east, north], opacity}) {
  const sheet = h('canvas', {width: image.width, height: image.height});
  sheet.getContext('2d').putImageData(image, 0, 0);
  const [[left, top], [right, bottom]] = [viewport.project([west, north]), viewport.project([east, south])];
  pen.globalAlpha = visible(opacity);
  pen.drawImage(sheet, left, top, right - left, bottom - top);
}

const BRUSHES = {
  BitmapLayer: paintBitmap, CellLayer: paintCells, PathLayer: paintPaths, TripsLayer: (pen, viewport, props) => props.currentTime && paintPaths(pen, viewport, props), SolidPolygonLayer: paintPolygons, PolygonLayer: paintPolygons, ScatterplotLayer: paintPoints,
};

/** Paints one layer if it is visible. */
export function paintLayer(pen, viewport, layer, ratio) {
  const brush = BRUSHES[layer.constructor.layerName];
  if (!brush || layer.props.visible === false || !(layer.props.data ?? layer.props.image)) return;
  pen.save();
  brush(pen, viewport, layer.props, ratio);
  pen.restore();
}
