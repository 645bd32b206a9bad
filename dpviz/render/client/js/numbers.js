/** Numbers rounded to what their noise allows: 1237.4 with a half-width of 58.8 reads "1,240 ± 60". */

/** To the nearest integer, halves to the even one, as Python and NumPy do: noisy counts are often whole, and a file's tables are Python's. */
export function nearest(value) {
  const result = Math.round(value);
  return Math.abs(value % 1) === 0.5 && result % 2 ? result - 1 : result;
}

/** The decimal place a half-width is known to: one digit, two where it begins with 1. */
function place(halfWidth) {
  const exponent = Math.floor(Math.log10(halfWidth));
  return halfWidth / 10 ** exponent < 2 ? exponent - 1 : exponent;
}

function rounded(value, exponent) {
  const step = 10 ** exponent;
  const result = nearest(value / step) * step;
  const digits = Math.max(0, -exponent);
  return (result === 0 ? 0 : result).toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits}).replace('-', '−');
}

/** A value at the last decimal place that its half-width leaves meaning. */
export function roundedTo(value, halfWidth) {
  if (halfWidth > 0) return rounded(value, place(halfWidth));
  return Math.abs(value) >= 10 || Number.isInteger(value) ? rounded(value, 0) : short(value);
}

/** "1,240 ± 60" for a value and the half-width of its 95 % interval. */
export function withNoise(value, halfWidth) {
  if (!(halfWidth > 0)) return roundedTo(value, 0);
  const exponent = place(halfWidth);
  return `${rounded(value, exponent)} ± ${rounded(halfWidth, exponent)}`;
}

/** The ends of an interval that add up with `withNoise`: "1,180 to 1,300" for 1,240 ± 60. */
export function intervalWords(value, halfWidth) {
  if (!(halfWidth > 0)) return `${roundedTo(value, 0)} to ${roundedTo(value, 0)}`;
  const exponent = place(halfWidth);
  const step = 10 ** exponent;
  const [middle, half] = [nearest(value / step), nearest(halfWidth / step)];
  return `${rounded((middle - half) * step, exponent)} to ${rounded((middle + half) * step, exponent)}`;
}

/** Two significant digits, thousands separated: the legend's and the densities' form. */
export function short(value) {
  if (!Number.isFinite(value) || value === 0) return '0';
  const size = Math.abs(value);
  const digits = size >= 10 ? 0 : 1 - Math.floor(Math.log10(size));
  const step = size >= 10 ? 10 ** (Math.floor(Math.log10(size)) - 1) : 10 ** -digits;
  return (nearest(value / step) * step).toLocaleString('en', {maximumFractionDigits: Math.max(0, digits)}).replace('-', '−');
}
