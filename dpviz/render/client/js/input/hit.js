/**
 * Hit test: the object below a pixel, computed from the layers' columns, with the same result on every machine.
 *
 * deck.gl's picking would render every pickable layer once more for each question, about a second
 * with software GL; and flat maps have no graphics card at all.
 */
import {cellTable, drawnRows} from '../draw/cells.js';
import {FlatViewport, WORLD, worldOf} from '../core/mercator.js';
import {count, pixelsOf, reader} from '../core/objects.js';

/** Distance of a pixel from a line segment. */
function apart([x, y], [x0, y0], [x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = dx || dy ? Math.min(Math.max(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0), 1) : 0;
  return Math.hypot(x0 + along * dx - x, y0 + along * dy - y);
}

/** The nearest object, the last one of equals: `distance` gives pixels from an object's edge, 0 inside. */
function nearestOf(props, reach, distance) {
  let best = null;
  for (let index = 0; index < count(props); index++) {
    const pixels = distance(index);
    if (pixels <= (best?.pixels ?? reach)) best = {index, pixels};
  }
  return best;
}

/** True if a segment lies entirely on one side of the square around a place, in degrees. */
const beyond = ([lon, lat], around, x0, y0, x1, y1) => Math.max(x0, x1) < lon - around || Math.min(x0, x1) > lon + around
  || Math.max(y0, y1) < lat - around || Math.min(y0, y1) > lat + around;

/** Degrees of longitude of a number of pixels; in latitude they are fewer. */
const degrees = (viewport, pixels) => pixels * 360 / (WORLD * viewport.scale);

function hitPaths(props, viewport, pixel, reach) {
  const {attributes: {getPath: {value, size}}, startIndices} = props.data;
  const [width, pixels] = [reader(props, 'getWidth', 1), pixelsOf(viewport, props, 'width')];
  const place = viewport.unproject(pixel);
  return nearestOf(props, reach, i => {
    const [start, end] = [startIndices[i], startIndices[i + 1]];
    const half = pixels(width(i, start)) / 2;
    const around = degrees(viewport, reach + half);
    let least = Infinity;
    for (let k = start; k + 1 < end; k++) {
      const [x0, y0, x1, y1] = [value[size * k], value[size * k + 1], value[size * (k + 1)], value[size * (k + 1) + 1]];
      if (beyond(place, around, x0, y0, x1, y1)) continue;
      least = Math.min(least, apart(pixel, viewport.project([x0, y0]), viewport.project([x1, y1])));
    }
    return Math.max(least - half, 0);
  });
}

function hitPoints(props, viewport, pixel, reach) {
  const [place, radius] = [reader(props, 'getPosition'), reader(props, 'getRadius', 1)];
  const pixels = pixelsOf(viewport, props, 'radius');
  return nearestOf(props, reach, i => {
    const [x, y] = viewport.project(place(i));
    return Math.max(Math.hypot(x - pixel[0], y - pixel[1]) - pixels(radius(i)), 0);
  });
}

/** Polygons without holes that contain the place; one nearby is not hit. */
function hitPolygons(props, viewport, pixel) {
  const {attributes: {getPolygon: {value, size}}, startIndices} = props.data;
  const [lon, lat] = viewport.unproject(pixel);
  return nearestOf(props, 0, i => {
    let inside = false;
    for (let k = startIndices[i]; k + 1 < startIndices[i + 1]; k++) {
      const [x0, y0, x1, y1] = [value[size * k], value[size * k + 1], value[size * (k + 1)], value[size * (k + 1) + 1]];
      if (y0 > lat !== y1 > lat && lon < x0 + (lat - y0) / (y1 - y0) * (x1 - x0)) inside = !inside;
    }
    return inside ? 0 : Infinity;
  });
}

function hitCells(props, viewport, pixel) {
  const {origin, raw, depth, clipX = [-Infinity, Infinity]} = props;
  const ratio = window.devicePixelRatio || 1;
  if (!count(props) || pixel[0] * ratio < clipX[0] || pixel[0] * ratio > clipX[1]) return null;
  const {length, boxes, values} = cellTable(props);
  const [x, y] = worldOf(viewport.unproject(pixel)).map((each, i) => each - origin[i]);
  const index = drawnRows(length, boxes, values, [x, y, x, y], {raw, depth, zoom: viewport.zoom}).at(-1);
  return index === undefined ? null : {index, pixels: 0};
}

const HITS = {CellLayer: hitCells, PathLayer: hitPaths, SolidPolygonLayer: hitPolygons, ScatterplotLayer: hitPoints};

/**
 * The object {layer, index} of `layers` nearest to a pixel of a viewport, at most `reach` pixels away; the uppermost
 * of several below the pixel, null if there is none. Layers without `hit`, and invisible ones, are skipped.
 */
export function hit(layers, viewport, pixel, reach) {
  const seen = new FlatViewport(viewport);
  let best = null;
  for (const layer of layers) {
    const {hit: may, visible = true, data} = layer.props;
    const found = may && visible && data?.attributes && HITS[layer.constructor.layerName]?.(layer.props, seen, pixel, reach);
    if (found && found.pixels <= (best?.pixels ?? reach)) best = {layer, ...found};
  }
  return best;
}
