/**
 * Keyboard control. Without a tool the arrow keys pan and + − zoom (deck.gl's own controller
 * needs the focus on its canvas, so both are done here). With a tool the arrow keys move a cross-hair:
 *
 * D  rectangle tool        P  polygon tool       Esc  cancel         Delete  clear the shape
 * arrows  move (Shift: faster)    Enter or Space  set a corner        Enter on a polygon's last corner closes it
 * Backspace or Delete  remove the last corner
 *
 * In a series , and . step back and forward, and K plays or pauses.
 *
 * F presents, / finds a place. Letter keys work only while the map has the focus (WCAG 2.1.4).
 */
import {polygon, rect} from './shapes.js';

const STEP = 12; // pixels per press of an arrow key
const FAR = 60;
const FILM = {',': player => player.step(-1), '.': player => player.step(1), k: player => player.play(!player.playing)};
const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

export class Keyboard {
  constructor(app) {
    this.app = app;
    this.cursor = null; // [x, y] in pixels of the map
    this.corners = [];
    app.root.addEventListener('keydown', event => this.press(event));
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const control = event.composedPath().find(node => node.dataset?.control !== undefined);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const handled =
      key === 'Escape' ? this.stop()
        : control ? false // a slider or a button keeps its own keys
          : key === 'd' ? this.app.setTool('rect')
            : key === 'p' ? this.app.setTool('polygon')
              : key === 'f' ? this.app.present.toggle()
              : key === '/' ? this.app.controls.find()
              : FILM[key] && this.app.player ? FILM[key](this.app.player)
              : key === 'Delete' || key === 'Backspace' ? this.app.tool ? this.takeBack() : this.app.clear()
                : ARROWS[key] ? this.arrow(ARROWS[key], event.shiftKey ? FAR : STEP)
                  : key === 'Enter' || key === ' ' ? this.corner(key)
                    : key === '+' || key === '=' ? this.app.sight.zoomBy(1)
                      : key === '-' ? this.app.sight.zoomBy(-1)
                        : false;
    if (handled === false) return;
    event.preventDefault();
    event.stopPropagation();
  }

  stop() {
    if (!this.app.tool && !this.app.pointer.busy) {
      if (this.app.controls.fold()) return true;
      if (!this.app.present.on) return false;
      this.app.present.show(false);
      return true;
    }
    this.reset();
    this.app.pointer.cancel();
    this.app.setTool(null);
    return true;
  }

  reset() {
    if (this.corners.length) this.app.restore();
    this.cursor = null;
    this.corners = [];
    this.app.draft = null;
    this.app.labels.crosshair(null);
  }

  arrow([dx, dy], step) {
    if (!this.app.tool) return this.app.sight.panBy(dx * step * 3, dy * step * 3);
    const {width, height} = this.app.size();
    const [x, y] = this.cursor ?? [width / 2, height / 2];
    this.cursor = [Math.min(Math.max(x + dx * step, 0), width), Math.min(Math.max(y + dy * step, 0), height)];
    this.app.labels.crosshair(this.cursor);
    this.preview();
    return true;
  }

  preview() {
    const here = this.app.sight.unproject(this.cursor);
    if (this.app.tool === 'rect' && this.corners.length) this.app.shape = rect(this.corners[0], here);
    if (this.app.tool === 'polygon' && this.corners.length) this.app.draft = [...this.corners, here];
    this.app.render();
  }

  corner(key) {
    const tool = this.app.tool;
    if (!tool) return false;
    if (tool === 'polygon' && key === 'Enter' && this.app.pointer.ring) {
      this.app.pointer.close();
      return true;
    }
    const {width, height} = this.app.size();
    this.cursor ??= [width / 2, height / 2];
    this.app.labels.crosshair(this.cursor);
    const here = this.app.sight.unproject(this.cursor);
    const last = this.corners.at(-1);
    const again = last && last[0] === here[0] && last[1] === here[1];
    if (tool === 'rect' && this.corners.length && !again) return this.done(rect(this.corners[0], here));
    if (tool === 'polygon' && again && this.corners.length >= 3) return this.done(polygon(this.corners));
    if (!again) this.corners.push(here);
    this.preview();
    return true;
  }

  /** Removes the last corner of the polygon being drawn, by mouse or by keyboard. */
  takeBack() {
    const {app, corners} = this;
    const {ring} = app.pointer;
    (ring ?? corners).pop();
    if (ring) app.draft = ring.length ? [...ring, app.draft.at(-1)] : null;
    if (!ring?.length) app.pointer.ring = null;
    if (!ring && !corners.length) {
      app.draft = null;
      app.restore();
    }
    if (corners.length) this.preview();
    app.render();
    return true;
  }

  done(shape) {
    this.reset();
    this.app.finish(shape);
    return true;
  }
}
