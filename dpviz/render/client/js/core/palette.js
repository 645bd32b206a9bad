/** A colour of bytes, RGB or RGBA, as CSS. */
export const css = ([r, g, b, a = 255], opacity = 1) => `rgba(${r},${g},${b},${a / 255 * opacity})`;
