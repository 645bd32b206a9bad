/**
 * Printing: one opaque copy of the map in light colours, in the shape that it has on the screen. WebGL's
 * drawing is lost before the page is printed, and transparent parts of a canvas print white. The copy
 * is an image, since Chromium prints a canvas at the size of an earlier layout; a canvas lies below it
 * for browsers that decode the image too late.
 */
import {h} from '../core/dom.js';
import {css} from '../core/palette.js';

export class Paper {
  constructor(app) {
    this.app = app;
    this.media = window.matchMedia('print');
    this.on = this.media.matches;
    this.changed = () => this.show(this.media.matches);
    this.before = () => this.show(true);
    this.after = () => this.show(false);
    this.media.addEventListener('change', this.changed);
    window.addEventListener('beforeprint', this.before);
    window.addEventListener('afterprint', this.after);
  }

  destroy() {
    this.media.removeEventListener('change', this.changed);
    window.removeEventListener('beforeprint', this.before);
    window.removeEventListener('afterprint', this.after);
  }

  show(on) {
    if (this.on === on) return;
    this.on = on;
    this.copy?.remove();
    this.app.takeTheme();
    if (!on || !this.app.deck.isInitialized) return;
    this.app.deck.layerManager.updateLayers(); // apply pending changes first, as the next frame would
    this.app.deck.redraw('print'); // in the same task as the copy: WebGL's buffer is cleared afterwards
    this.take();
  }

  /** Called after each picture: copies a map that appeared or changed after printing began. */
  drawn() {
    if (this.on) this.take();
  }

  take() {
    this.copy?.remove();
    const drawn = this.app.canvasHost.querySelector('canvas');
    const {width, height} = drawn;
    const sheet = h('canvas', {width, height});
    const pen = sheet.getContext('2d');
    pen.fillStyle = css(this.app.theme.land);
    pen.fillRect(0, 0, width, height);
    pen.drawImage(drawn, 0, 0, width, height);
    const layer = h('canvas', {width, height}); // names drawn again at today's size, without room for buttons
    const {deck, surround} = this.app;
    surround.paint(layer.getContext('2d'), deck.getViewports(), width / deck.width, deck, Math.max(1, deck.width / 830)); // names of 7 pt on A4
    pen.drawImage(layer, 0, 0);
    this.copy = h('div', {class: 'copy'}, sheet, h('img', {alt: '', src: sheet.toDataURL()}));
    this.app.canvasHost.append(this.copy);
  }

  /** Stores the map's aspect ratio on the screen, because paper has another width. */
  shape({width, height}) {
    if (!this.on) this.app.root.style.setProperty('--drawn', `${width} / ${height}`);
  }
}
