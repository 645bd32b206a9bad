/**
 * The drawn shape: null, {kind: 'rect', rect: [west, south, east, north]} or {kind: 'polygon', ring: [[lon, lat], …]}.
 * Pure functions on shapes, and the layers that draw one.
 */

export const rect = (a, b) => ({
  kind: 'rect',
  rect: [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])],
});

export const polygon = ring => ({kind: 'polygon', ring: ring.map(([x, y]) => [x, y])});

/** The four corners, anticlockwise from the south-west. */
export const corners = ([w, s, e, n]) => [[w, s], [e, s], [e, n], [w, n]];

export const ringOf = shape => shape.kind === 'rect' ? corners(shape.rect) : shape.ring;

/** Description for screen readers, also shown while drawing. */
export function description(shape) {
  if (!shape) return 'No shape drawn';
  if (shape.kind === 'polygon') return `Polygon with ${shape.ring.length} corners`;
  const [w, s, e, n] = shape.rect.map(v => v.toFixed(4));
  return `Rectangle west ${w}, south ${s}, east ${e}, north ${n}`;
}

/** Layers of a finished shape, and of the open line of an unfinished polygon; `halo` is the colour of the wider line below. */
export function shapeLayers({PolygonLayer, PathLayer, ScatterplotLayer}, shape, draft, accent, halo) {
  const parameters = {depthCompare: 'always'};
  const line = (id, path, colour, width) => new PathLayer({
    id, data: [path], getPath: d => d, getColor: colour, getWidth: width, widthUnits: 'pixels', jointRounded: true, capRounded: true,
    pickable: false, parameters, updateTriggers: {getColor: colour},
  });
  const layers = [];
  if (shape) {
    const ring = ringOf(shape);
    const closed = [...ring, ring[0]];
    layers.push(
      new PolygonLayer({
        id: 'dpviz-shape', data: [ring], getPolygon: d => d, pickable: false, filled: true, stroked: false,
        getFillColor: [...accent, 14], updateTriggers: {getFillColor: accent}, parameters,
      }),
      line('dpviz-shape-casing', closed, [...halo, 215], 4.5), line('dpviz-shape-line', closed, [...accent, 255], 2));
  }
  if (draft?.length) {
    layers.push(line('dpviz-draft-casing', draft, [...halo, 215], 4.5), line('dpviz-draft', draft, [...accent, 255], 2),
      new ScatterplotLayer({id: 'dpviz-draft-points', data: draft.slice(0, -1), getPosition: d => d, getFillColor: [...accent, 255], getRadius: 4, radiusUnits: 'pixels', parameters}));
  }
  return layers;
}
