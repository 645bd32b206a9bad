/**
 * The map as a PNG file of 1920 × 1080, or of the map's own shape if it is tall: title, map
 * drawn again at that size with names and scale bar, legend, source.
 */
import {h} from '../core/dom.js';
import {blankWords, legendCircles, legendClasses, legendSwatches} from './legend.js';
import {css} from '../core/palette.js';

const WIDTH = 1920;
const HEIGHT = 1080;
const EDGE = 48;
const SETTLE_FRAMES = 12; // the larger map has this many frames to be drawn

const nextFrame = () => new Promise(resolve => requestAnimationFrame(resolve));

/** File name made from the title, as in Python's exports. */
const fileName = title => `${(title || 'map').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80).replace(/^-+|-+$/g, '') || 'map'}.png`;

/** Composes and downloads the picture; for a moment the map has the picture's size, hidden from view. */
export async function savePicture(app) {
  const host = app.canvasHost;
  const head = app.names.length ? 150 : 104;
  const foot = 128;
  const portrait = app.root.clientHeight > app.root.clientWidth * 1.2;
  const size = portrait ? {width: HEIGHT, height: WIDTH} : {width: WIDTH, height: HEIGHT};
  const wide = size.width - 2 * EDGE;
  const high = size.height - head - foot;
  const zoom = wide / Math.max(app.root.clientWidth, 1);
  const {canvas, zoom: shown} = await enlarged();
  const page = getComputedStyle(app.root);
  const paper = page.getPropertyValue('--st-background-color').trim() || '#fff';
  const picture = h('canvas', size);
  const pen = picture.getContext('2d');
  pen.fillStyle = paper;
  pen.fillRect(0, 0, size.width, size.height);
  pen.drawImage(canvas, EDGE, head, wide, high);
  pen.strokeStyle = css(app.theme.frame, 0.6);
  pen.lineWidth = 1;
  pen.strokeRect(EDGE, head, wide, high);
  const type = {ink: css(app.theme.text), font: app.surround.font()};
  write(pen, app.title || app.root.getAttribute('aria-label'), EDGE, 64, wide, `600 36px ${type.font}`, type.ink);
  if (app.title) write(pen, app.root.getAttribute('aria-label'), EDGE, 92, wide, `18px ${type.font}`, type.ink);
  const named = app.mode === 'side' ? app.panes().map(pane => app.names[pane.id]) : app.names.slice(0, 2);
  const each = wide / Math.max(named.length, 2);
  named.forEach((text, i) => write(pen, text.replace('\n', ' · '), EDGE + i * each, head - 12, each - 20, `500 20px ${type.font}`, type.ink));
  drawLegend(pen, app, EDGE, head + high + 18, wide, type, shown);
  const source = ['dpviz', app.attribution.textContent].filter(Boolean).join(' · ');
  pen.textAlign = 'right';
  write(pen, source, size.width - EDGE, size.height - 20, wide, `15px ${type.font}`, type.ink);
  return new Promise(resolve => picture.toBlob(blob => {
    const link = h('a', {href: URL.createObjectURL(blob), download: fileName(app.title)});
    link.click();
    URL.revokeObjectURL(link.href);
    resolve();
  }));

  /** Draws the map and its surroundings at another size into one canvas, then restores the map on the page. */
  async function enlarged() {
    const before = {camera: app.camera, touched: app.sight.touched, start: app.sight.start, before: app.sight.before, style: app.root.getAttribute('style')};
    app.saving = true;
    const {clientWidth: w0, clientHeight: h0} = app.root;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(app.root.style, {position: 'fixed', left: '-10000px', top: 0, width: `${wide / ratio}px`, height: `${high / ratio}px`, maxHeight: 'none'});
    app.sight.camera = app.sight.bounds && !before.touched ? app.sight.fitted(app.sight.bounds, app.size(), [])
      : {...before.camera, zoom: before.camera.zoom + Math.log2(Math.min(wide / ratio / w0, high / ratio / h0))};
    app.sight.before = {...app.sight.before, width: wide / ratio, height: high / ratio};
    app.render();
    for (let k = 0; k < SETTLE_FRAMES; k++) await nextFrame();
    app.deck.redraw('picture'); // in the same frame as the copy: WebGL's buffer is cleared afterwards
    const copy = h('canvas', {width: wide, height: high});
    const brush = copy.getContext('2d');
    brush.fillStyle = css(app.theme.land);
    brush.fillRect(0, 0, wide, high);
    brush.drawImage(host.querySelector('canvas'), 0, 0, wide, high);
    const {zoom: larger} = app.sight.camera;
    const scale = Math.min(Math.max(zoom, 1.4), 2); // names must be legible and not hide the map
    app.surround.paint(brush, app.sight.viewports, ratio, scale / ratio);
    app.root.setAttribute('style', before.style ?? '');
    app.saving = false;
    Object.assign(app.sight, {camera: before.camera, touched: before.touched, start: before.start, before: before.before});
    app.render();
    return {canvas: copy, zoom: larger + Math.log2(ratio)};
  }
}

/** Writes a text, at most a tenth narrower than its letters are; what is longer is cut. */
function write(pen, text, x, y, most, font, ink) {
  pen.font = font;
  pen.fillStyle = ink;
  const room = 1.1 * most / pen.measureText(text).width;
  const shown = room < 1 ? `${text.slice(0, text.length * room - 1)}…` : text;
  pen.fillText(shown, x, y, most);
  const width = Math.min(pen.measureText(shown).width, most);
  pen.textAlign = 'left';
  return width;
}

/** A text in two lines if one would be too long. */
function inTwo(pen, text, most, font) {
  pen.font = font;
  if (pen.measureText(text).width <= most) return [text];
  const words = text.split(' ');
  const end = Math.max(words.findLastIndex((_, at) => pen.measureText(words.slice(0, at).join(' ')).width <= most), 1);
  return [words.slice(0, end).join(' '), words.slice(end).join(' ')];
}

/** The legend, as on the page. */
function drawLegend(pen, app, left, top, wide, {ink, font}, zoom) {
  const {legend} = app;
  if (!legend?.title) return;
  const {palette, raw} = app.view;
  const classes = legendClasses(legend, palette, app.themeName, raw);
  const blank = blankWords(legend, raw);
  const lines = inTwo(pen, legend.title, 420, `600 20px ${font}`);
  let x = left + Math.max(...lines.map((line, at) => write(pen, line, left, top + 22 + 24 * at, 420, `600 20px ${font}`, ink))) + 28;
  const each = Math.min(84, (wide * 0.55) / Math.max(classes.length, 1));
  const frame = css(app.theme.frame, 0.7);
  const box = (colour, width, lineWidth) => {
    pen.fillStyle = colour;
    if (lineWidth) pen.fillRect(x, top + 14 - lineWidth / 2, width - 8, lineWidth);
    else pen.fillRect(x, top, width, 28);
  };
  if (legend.blank && (raw || !legend.empty)) {
    box(css(app.theme.land), 52);
    pen.strokeStyle = frame;
    pen.strokeRect(x + 0.5, top + 0.5, 51, 27);
    write(pen, raw ? 'less' : 'blank', x, top + 50, 60, `16px ${font}`, ink);
    x += 62;
  }
  for (const {color, label, width} of classes) {
    box(css(color), each, width && width * 1.6);
    write(pen, label, x, top + 50, each, `16px ${font}`, ink);
    x += each;
  }
  x += 24;
  for (const {count, wide: across} of legendCircles(legend, zoom)) {
    pen.beginPath();
    pen.arc(x + across / 2, top + 14, across / 2, 0, 7);
    pen.fillStyle = css(legend.circles[app.themeName]);
    pen.fill();
    x += across + 6;
    x += write(pen, count, x, top + 20, 120, `16px ${font}`, ink) + 14;
  }
  if (legend.circles) x += write(pen, legend.circles.label, x, top + 20, left + wide - x, `16px ${font}`, ink) + 20;
  for (const {label, color, hatch, width} of legendSwatches(legend, raw, app.themeName)) {
    if (hatch) {
      pen.save();
      pen.beginPath();
      pen.rect(x, top, 28, 28);
      pen.clip();
      pen.strokeStyle = css(color);
      pen.lineWidth = 2;
      for (let k = -28; k < 28; k += 8) { pen.beginPath(); pen.moveTo(x + k, top + 28); pen.lineTo(x + k + 28, top); pen.stroke(); }
      pen.restore();
    } else box(css(color), width ? 36 : 28, width && width * 1.6);
    x += 36 + write(pen, label, x + 36, top + 20, left + wide - x - 36, `16px ${font}`, ink) + 20;
  }
  if (blank) write(pen, blank, left, top + 84, wide * 0.72, `16px ${font}`, ink);
}
