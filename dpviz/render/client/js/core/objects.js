/** The values and pixel sizes of a layer's objects. */

export const count = ({data}) => data?.length ?? 0;

/** Returns a function from an object to its value: of a bound column (at a vertex, for lines), of a function, or a constant. */
export function reader({data, ...props}, name, otherwise) {
  const bound = data?.attributes?.[name];
  if (bound) {
    const {value, size} = bound;
    return (i, vertex = i) => size === 1 ? value[vertex] : value.subarray(size * vertex, size * vertex + size);
  }
  const given = props[name] ?? otherwise;
  return typeof given === 'function' ? i => given(data[i]) : () => given;
}

/** Returns a function from a size in pixels or metres to pixels within its limits; `what` is width or radius. */
export function pixelsOf(viewport, props, what) {
  const {[`${what}Units`]: units = 'meters', [`${what}Scale`]: scale = 1, [`${what}MinPixels`]: least = 0, [`${what}MaxPixels`]: most = Infinity} = props;
  const unit = scale * (units === 'pixels' ? 1 : 1 / viewport.metres);
  return size => Math.min(Math.max(size * unit, least), most);
}
