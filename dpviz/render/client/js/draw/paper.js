/**
 * Printing: the map in light colours, in the shape it has on the screen, as one opaque copy: what WebGL
 * has drawn is gone before a sheet is made, and a canvas one can see through is white there. The copy is
 * a picture, since Chromium prints a canvas in the size that it had a layout before; a canvas lies below it
 * for browsers that load pictures too late.
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
    this.app.deck.layerManager.updateLayers(); // as the next frame would
    this.app.deck.redraw('print'); // in this very task, or the buffer is empty
    this.take();
  }

  /** Of a map that was not on the screen yet, or had other data, when printing began. */
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
    const layer = h('canvas', {width, height}); // names anew: no button is in their way, and sizes are those of now
    const {deck, surround} = this.app;
    surround.paint(layer.getContext('2d'), deck.getViewports(), width / deck.width, deck);
    pen.drawImage(layer, 0, 0);
    this.copy = h('div', {class: 'copy'}, sheet, h('img', {alt: '', src: sheet.toDataURL()}));
    this.app.canvasHost.append(this.copy);
  }

  /** Keeps the shape that the map has on the screen: paper has another width. */
  shape({width, height}) {
    if (!this.on) this.app.root.style.setProperty('--drawn', `${width} / ${height}`);
  }
}
