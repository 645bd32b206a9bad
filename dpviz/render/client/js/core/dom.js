/** Small helpers for building the map's own controls. Text is only ever set as text, never as HTML. */

/** An element: `h('button', {class: 'tool', onclick: f}, 'Draw', child)`. */
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

/** A line drawing on 16 by 16 in the colour of the text: signs that not every machine's letters have. */
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

/** `call(...args)` once `wait` milliseconds have passed without another call. */
export function debounce(call, wait) {
  let timer;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** True where the page's background is dark; `host` is an element inside the themed page. */
export function isDark(host) {
  const colour = getComputedStyle(host).getPropertyValue('--st-background-color').trim() || '#fff';
  const probe = h('span', {style: `color:${colour};display:none;forced-color-adjust:none`});
  host.append(probe);
  const [r, g, b] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  probe.remove();
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}
