/** A colour of bytes, RGB or RGBA, as CSS. */
export const css = ([r, g, b, a = 255]) => `rgba(${r},${g},${b},${a / 255})`;

/** A colour ramp of any number of stops as 256 texels of RGBA bytes. */
export function paletteTexels(stops) {
  const texels = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = i / 255 * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) texels[4 * i + c] = Math.round(stops[k][c] + (stops[k + 1][c] - stops[k][c]) * (at - k));
    texels[4 * i + 3] = 255;
  }
  return texels;
}
