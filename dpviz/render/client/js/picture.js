/** The map as a PNG file: the canvas on its background, with its caption, the names of its sides and the legend. */
import {h} from './dom.js';
import {css} from './palette.js';

/** Composes and downloads; `canvas` must have been drawn in this very frame. */
export function savePicture(canvas, {legend, theme, root, names, caption, attribution}) {
  const scale = canvas.width / root.clientWidth;
  const page = getComputedStyle(root);
  const picture = h('canvas', {width: canvas.width, height: canvas.height});
  const pen = picture.getContext('2d');
  pen.fillStyle = page.backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(canvas, 0, 0);
  pen.scale(scale, scale);
  const size = {width: root.clientWidth, height: root.clientHeight};
  const style = {ink: page.color, paper: page.getPropertyValue('--st-background-color') || '#fff'};
  if (legend) drawLegend(pen, legend, theme, style, size);
  tag(pen, caption, 10, 20, style, size.width - 20);
  names.slice(0, 2).forEach((text, i) => tag(pen, text, i ? size.width / 2 + 10 : 10, 46, style, size.width / 2 - 20));
  write(pen, attribution, size.width - 10, size.height - 8, style.ink, 'right');
  picture.toBlob(blob => {
    const link = h('a', {href: URL.createObjectURL(blob), download: 'map.png'});
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

/** Text on paper of its own, no wider than `most` pixels: a map of any colour lies below. */
function tag(pen, text, x, y, {ink, paper}, most) {
  pen.font = '12px sans-serif';
  pen.fillStyle = paper;
  pen.fillRect(x - 4, y - 14, Math.min(pen.measureText(text).width, most) + 8, 20);
  pen.textAlign = 'left';
  pen.fillStyle = ink;
  pen.fillText(text, x, y, most);
}

function write(pen, text, x, y, ink, align = 'left', weight = '') {
  pen.font = `${weight} 12px sans-serif`;
  pen.textAlign = align;
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}

function drawLegend(pen, {title, stops, ticks = [], swatches = []}, theme, {ink, paper}, {height}) {
  const rows = 1 + (stops ? 2 : 0) + swatches.length;
  const box = {x: 10, y: height - rows * 18 - 24, width: 220, height: rows * 18 + 14};
  pen.fillStyle = paper;
  pen.fillRect(box.x, box.y, box.width, box.height);
  let y = box.y + 20;
  const left = box.x + 12;
  const width = box.width - 24;
  write(pen, title, left, y, ink, 'left', 'bold');
  if (stops) {
    const ramp = pen.createLinearGradient(left, 0, left + width, 0);
    stops.forEach((stop, i) => ramp.addColorStop(i / (stops.length - 1), css(stop)));
    pen.fillStyle = ramp;
    pen.fillRect(left, y + 7, width, 10);
    for (const {at, label} of ticks) write(pen, label, left + at * width, y + 32, ink, ['left', 'center', 'right'][Math.round(at * 2)]);
    y += 36;
  }
  for (const {label, color} of swatches) {
    pen.fillStyle = css(theme[color] ?? color);
    pen.fillRect(left, y + 8, 14, 10);
    write(pen, label, left + 20, y + 17, ink);
    y += 18;
  }
}
