/** Numbers rounded to what their noise allows: 1237.4 with a half-width of 58.8 becomes "1,240 ± 60". */

/** Rounds to the nearest integer, halves to even, as Python and NumPy do: noisy counts are often whole, and tables in the same file come from Python. */
export function nearest(value) {
  const result = Math.round(value);
  return Math.abs(value % 1) === 0.5 && result % 2 ? result - 1 : result;
}

/** Share of a decimal place below which an excess counts as a rounding error of float32. */
const LAST_DIGITS = 1e-7;

const power = place => Number(`1e${place}`);

/** Rounds to a multiple of 10 ** place by all digits of the float, halves to even: Python's `round(value, -place)`. */
function toPlace(value, place) {
  const size = Math.abs(value);
  const sign = value < 0 ? -1 : 1;
  if (place > 0) {
    const step = power(place);
    const rest = size % step;
    const least = size - rest;
    const up = 2 * rest > step || 2 * rest === step && least / step % 2;
    return sign * (up ? least + step : least);
  }
  const text = size.toFixed(-place); // rounds halves up
  const isHalf = size * 2 ** (1 - place) % 2 === 1;
  return sign * (isHalf && text.at(-1) % 2 ? Number(size.toFixed(1 - place).slice(0, -1)) : Number(text));
}

/** A value rounded to a decimal place, with thousands separators. */
function atPlace(value, place) {
  const result = toPlace(value, place);
  const [whole, part] = Math.abs(result).toFixed(Math.max(0, -place)).split('.');
  return (result < 0 ? '−' : '') + whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',') + (part ? `.${part}` : '');
}

/** A half-width rounded up (two digits if it begins with 1, 2 or 3, else one), and the place of its last digit. */
function roundedUp(halfWidth) {
  const exponent = Math.floor(Math.log10(halfWidth));
  const place = halfWidth / power(exponent) < 4 ? exponent - 1 : exponent;
  const digits = Math.ceil(halfWidth / power(place) * (1 - LAST_DIGITS));
  return digits === 40 ? [Number(`4e${place + 1}`), place + 1] : [Number(`${digits}e${place}`), place]; // 39.2 becomes 40, which has one digit
}

/** The half-width after ±, and the place of its last digit: whole from 1 on, as exact counts are. */
function shown(halfWidth) {
  const [half, place] = roundedUp(halfWidth);
  return half >= 1 && place < 0 ? [Math.ceil(half), 0] : [half, place];
}

const isWidth = halfWidth => Number.isFinite(halfWidth) && halfWidth > 0;

/** A value rounded to the last decimal place that its half-width makes meaningful. */
export function roundedTo(value, halfWidth) {
  if (isWidth(halfWidth)) return atPlace(value, shown(halfWidth)[1]);
  return Math.abs(value) >= 10 || Number.isInteger(value) ? atPlace(value, 0) : short(value);
}

/** The number after ±, rounded up: no interval is shown too narrow. */
export function halfWidthWords(halfWidth) {
  return isWidth(halfWidth) ? atPlace(...shown(halfWidth)) : roundedTo(halfWidth, 0);
}

/** "1,240 ± 60" for a value and the half-width of its 95 % interval. */
export function withNoise(value, halfWidth) {
  return isWidth(halfWidth) ? `${roundedTo(value, halfWidth)} ± ${halfWidthWords(halfWidth)}` : roundedTo(value, 0);
}

/** Whether the interval that `withNoise` writes holds zero. */
export function withinNoise(words) {
  const [value, half] = words.replaceAll(',', '').replace('−', '-').split(' ± ').map(Number);
  return half !== undefined && Math.abs(value) <= half;
}

/** The lower end (sign −1) or upper end (sign 1) of an interval, rounded outwards. */
function outwards(value, place, sign) {
  const end = toPlace(value, place);
  const step = power(place);
  return atPlace(sign * (value - end) > LAST_DIGITS * step ? end + sign * step : end, place);
}

function withEnds(value, low, high, half) {
  if (!isWidth(half)) return [value, low, high].map(each => roundedTo(each, 0));
  const place = roundedUp(half)[1];
  return [atPlace(value, place), outwards(low, place, -1), outwards(high, place, 1)];
}

/** "42 % (34 to 50 %)" for a share and its interval, rounded to whole per cents or finer. */
export function percentInterval(value, low, high) {
  const [first, least, most] = withEnds(100 * value, 100 * low, 100 * high, Math.min(50 * (high - low), 5));
  return `${first}\u00a0% (${least} to ${most}\u00a0%)`; // no line break before the sign
}

/** "12.13 (11.82 to 12.42)" for a value and its interval. */
export function withInterval(value, low, high) {
  const [first, least, most] = withEnds(value, low, high, (high - low) / 2);
  return `${first} (${least} to ${most})`;
}

/** Two significant digits with thousands separators, as in legends and densities. */
export function short(value) {
  if (!Number.isFinite(value) || value === 0) return '0';
  const text = atPlace(value, Math.floor(Math.log10(Math.abs(value))) - 1);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
