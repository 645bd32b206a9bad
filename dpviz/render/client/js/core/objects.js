/** The objects of a layer: what each of them has, and how wide it is in pixels. */

export const count = ({data}) => data?.length ?? 0;

/** One value for each object: of a bound column (at its vertex, for lines), of a function, or the same for all. */
export function reader({data, ...props}, name, otherwise) {
  const bound = data?.attributes?.[name];
  if (bound) {
    const {value, size} = bound;
    return (i, vertex = i) => size === 1 ? value[vertex] : value.subarray(size * vertex, size * vertex + size);
  }
  const given = props[name] ?? otherwise;
  return typeof given === 'function' ? i => given(data[i]) : () => given;
}

/** Pixels of a size in pixels or metres, between its bounds; `what` is width or radius. */
export function pixelsOf(viewport, props, what) {
  const {[`${what}Units`]: units = 'meters', [`${what}Scale`]: scale = 1, [`${what}MinPixels`]: least = 0, [`${what}MaxPixels`]: most = Infinity} = props;
  const unit = scale * (units === 'pixels' ? 1 : 1 / viewport.metres);
  return size => Math.min(Math.max(size * unit, least), most);
}
