/**
 * Printing: the whole area in light colours on a sheet of its own shape, drawn flat, as WebGL's drawing is
 * lost before the page is printed. The copy is an image, since Chromium prints a canvas at the size of an
 * earlier layout; a canvas lies below it for browsers that decode the image too late.
 */
import {FlatView, paintLayers} from './flat.js';
import {drawnLayers} from './layers.js';
import {h} from '../core/dom.js';
import {worldOf} from '../core/mercator.js';
import {css} from '../core/palette.js';

const PAPER = {width: 1660, height: 937}; // dots of a map on A4, 186 mm × 105 mm at most
const PRINTED = {width: 703, height: 397}; // the same in pixels of the page
const DOTS = PAPER.width / PRINTED.width; // per pixel of the page
const CREDIT = {right: 150, above: 24, letters: 8}; // pixels from the edges to the ground's credit, as in the style sheet
const LETTERS = 2; // dots per pixel of words: names of 7 pt

export class Paper {
  constructor(app) {
    this.app = app;
    this.end = new AbortController();
    const {signal} = this.end;
    const media = window.matchMedia('print');
    this.on = media.matches;
    media.addEventListener('change', () => this.show(media.matches), {signal});
    window.addEventListener('beforeprint', () => this.show(true), {signal});
    window.addEventListener('afterprint', () => this.show(false), {signal});
  }

  show(on) {
    if (this.on === on) return;
    this.on = on;
    this.copy?.remove();
    this.zoom = undefined;
    this.app.takeTheme();
    this.drawn();
  }

  /** Called after each picture: copies a map that appeared or changed after printing began. */
  drawn() {
    if (this.on && this.app.camera) this.take();
  }

  take() {
    this.copy?.remove();
    const {app} = this;
    const panes = app.panes();
    const bounds = app.sight.bounds ?? app.sight.viewports[0].getBounds();
    const [[x0, y0], [x1, y1]] = [worldOf(bounds.slice(0, 2)), worldOf(bounds.slice(2))];
    const shape = Math.min(Math.max(panes.length * (x1 - x0) / (y1 - y0), 1), 4);
    const ratio = window.devicePixelRatio || 1; // clipped cells are measured by it
    const width = Math.min(PAPER.width, PAPER.height * shape) / ratio;
    const size = {width, height: width / shape};
    app.root.style.setProperty('--drawn', shape);
    const camera = app.sight.fitted(bounds, size, []);
    this.zoom = camera.zoom + Math.log2(Math.min(PRINTED.width, PRINTED.height * shape) / size.width);
    if (app.legend?.circles) app.showLegend();
    const viewports = panes.map(pane => new FlatView(pane).seen(size, camera));
    const sheet = h('canvas', {width: size.width * ratio, height: size.height * ratio});
    const pen = sheet.getContext('2d');
    pen.fillStyle = css(app.theme.land); // transparent parts would print white
    pen.fillRect(0, 0, sheet.width, sheet.height);
    paintLayers(pen, viewports, drawnLayers(app, camera, size), ({layer, viewport}) => app.isIn(viewport, layer), ratio);
    app.surround.paint(pen, viewports, ratio, LETTERS / ratio, [this.credit(pen, size, DOTS / ratio)]);
    this.copy = h('div', {class: 'copy'}, sheet, h('img', {alt: '', src: sheet.toDataURL()}));
    app.canvasHost.append(this.copy);
  }

  /** Box of the ground's credit on paper: while the sheet is drawn, it still has the size of the screen. */
  credit(pen, {width, height}, unit) {
    const {attribution, surround} = this.app;
    pen.font = `${CREDIT.letters}px ${surround.font()}`;
    const wide = pen.measureText(attribution.textContent).width + CREDIT.letters;
    return [width - (CREDIT.right + wide) * unit, height - CREDIT.above * unit, width - CREDIT.right * unit, height];
  }
}
