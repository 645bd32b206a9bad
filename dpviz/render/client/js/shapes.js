/**
 * The drawn shape: null, {kind: 'rect', rect: [west, south, east, north]} or {kind: 'polygon', ring: [[lon, lat], …]}.
 * Pure functions on shapes, and the layers that show one.
 */

export const rect = (a, b) => ({
  kind: 'rect',
  rect: [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])],
});

export const polygon = ring => ({kind: 'polygon', ring: ring.map(([x, y]) => [x, y])});

/** The four corners, anticlockwise from south-west. */
export const corners = ([w, s, e, n]) => [[w, s], [e, s], [e, n], [w, n]];

export const ringOf = shape => shape.kind === 'rect' ? corners(shape.rect) : shape.ring;

/** Said aloud by screen readers, and shown while drawing. */
export function description(shape) {
  if (!shape) return 'No shape drawn';
  if (shape.kind === 'polygon') return `Polygon with ${shape.ring.length} corners`;
  const [w, s, e, n] = shape.rect.map(v => v.toFixed(4));
  return `Rectangle west ${w}, south ${s}, east ${e}, north ${n}`;
}

/** Layers for a finished shape, and for the open line of a polygon being drawn. */
export function shapeLayers({PolygonLayer, PathLayer, ScatterplotLayer}, shape, draft, accent) {
  const always = {depthCompare: 'always'};
  const layers = [];
  if (shape) {
    layers.push(new PolygonLayer({
      id: 'dpviz-shape', data: [ringOf(shape)], getPolygon: ring => ring, pickable: false,
      filled: true, getFillColor: [...accent, 28], stroked: true, getLineColor: [...accent, 255],
      lineWidthUnits: 'pixels', getLineWidth: 2.5, lineJointRounded: true, parameters: always,
    }));
  }
  if (draft?.length) {
    layers.push(
      new PathLayer({id: 'dpviz-draft', data: [draft], getPath: d => d, getColor: [...accent, 255], getWidth: 2, widthUnits: 'pixels', parameters: always}),
      new ScatterplotLayer({id: 'dpviz-draft-points', data: draft.slice(0, -1), getPosition: d => d, getFillColor: [...accent, 255], getRadius: 4, radiusUnits: 'pixels', parameters: always}),
    );
  }
  return layers;
}
