/** Small helpers for the map's own controls. Strings become text nodes, never HTML. */

/** Creates an element: `h('button', {class: 'tool', onclick: f}, 'Draw', child)`. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** An icon of 16 × 16 in the text's colour, for symbols that some fonts lack. */
export function icon(path) {
  const name = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(name, 'svg');
  const line = document.createElementNS(name, 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

/** Calls `call(...args)` once `wait` milliseconds have passed without another call. */
export function debounce(call, wait) {
  let timer;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** True if the page's background is dark; `host` is an element inside the themed page. */
export function isDark(host) {
  const colour = getComputedStyle(host).getPropertyValue('--st-background-color').trim() || '#fff';
  const probe = h('span', {style: `color:${colour};display:none;forced-color-adjust:none`});
  host.append(probe);
  const [r, g, b] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  probe.remove();
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}
