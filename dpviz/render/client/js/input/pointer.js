/**
 * Drawing with mouse, pen or finger. The handlers run in the capture phase and stop the events they use,
 * so deck.gl's own gesture recogniser never sees a drag that draws.
 *
 *   rect tool, or Shift + drag     press, drag, release
 * polygon tool                   click the corners; a second click on the last one (a double click,
 * which some browsers do not report), a click on the first, or Enter closes
 *   a corner handle                drag it
 *
 * Without a tool one finger scrolls the page and two move the map; while presenting, one finger moves it.
 */
import {polygon, rect} from './shapes.js';

const CLICK_PIXELS = 5; // a press that moves less is a click
const MAX_CORNERS = 500; // of a polygon: limits.CORNERS
const CLOSE_PIXELS = 10; // a click this near to the first or the last corner closes the polygon

export class Pointer {
  constructor(app) {
    this.app = app;
    this.drag = null;
    this.ring = null;
    this.abort = new AbortController();
    const options = {capture: true, signal: this.abort.signal};
    const listen = (name, handler) => app.root.addEventListener(name, handler.bind(this), options);
    listen('pointerdown', this.down);
    listen('pointermove', this.move);
    listen('pointerup', this.up);
    listen('pointercancel', this.cancel);
    app.root.addEventListener('pointerleave', event => {
      if (event.pointerType !== 'touch') app.hover(null); // a finger leaves where it was lifted: keep its tooltip
    }, {signal: this.abort.signal});
    this.fingers = new Set();
    app.root.addEventListener('touchmove', event => {
      if (event.cancelable && (event.touches.length > 1 || this.busy || app.tool || app.present.on)) event.preventDefault();
    }, {passive: false, signal: this.abort.signal});
    for (const name of ['pointerup', 'pointercancel']) {
      window.addEventListener(name, event => this.lifted(event), {capture: true, signal: this.abort.signal});
    }
  }

  /** Counts the fingers on the map; a single finger scrolls the page. */
  touched(event) {
    if (event.pointerType !== 'touch') return;
    this.fingers.add(event.pointerId);
    this.setOneFinger(this.fingers.size === 1 && !this.app.present.on);
    if (this.oneFinger) this.landed = [event.clientX, event.clientY];
  }

  lifted(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    if (event.type === 'pointercancel' && this.oneFinger && !this.app.tool) this.app.labels.hint('Move the map with two fingers');
    if (!this.fingers.size) this.setOneFinger(false);
  }

  setOneFinger(yes) {
    if (yes === Boolean(this.oneFinger)) return;
    this.oneFinger = yes;
    this.app.render();
  }

  /** Position of an event in pixels of the map, [x, y]. */
  pixel(event) {
    const {left, top} = this.app.root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  get busy() {
    return this.drag !== null || this.ring !== null;
  }

  destroy() {
    this.abort.abort();
  }

  /** Cancels the drawing; the previous shape stays. */
  cancel() {
    if (this.drag) this.app.shape = this.drag.before;
    this.drag = null;
    this.ring = null;
    this.app.draft = null;
    this.app.render();
  }

  down(event) {
    this.touched(event);
    if (event.button !== 0) return;
    const handle = event.target.closest?.('[data-corner]');
    const onControl = !handle && event.target.closest?.('[data-control]');
    const tool = handle ? 'handle' : this.app.tool ?? (event.shiftKey && this.app.tools.includes('rect') ? 'rect' : null);
    this.press = onControl || tool ? null : [event.clientX, event.clientY];
    if (onControl || !tool) return;
    event.stopPropagation();
    event.preventDefault();
    this.app.root.focus({preventScroll: true});
    const viewport = this.app.sight.viewportAt(event);
    if (tool === 'polygon') {
      this.polygonPress = [event.clientX, event.clientY];
      return;
    }
    this.app.root.setPointerCapture(event.pointerId);
    const start = this.app.sight.toLngLat(event, viewport);
    this.drag = {viewport, start, at: [event.clientX, event.clientY], before: this.app.shape};
    if (handle) {
      const [w, s, e, n] = this.app.shape.rect;
      const k = Number(handle.dataset.corner);
      this.drag.start = [k === 0 || k === 3 ? e : w, k < 2 ? n : s]; // the opposite corner stays
    }
  }

  move(event) {
    this.app.sight.tellWhere(event);
    this.app.hover(event.buttons || event.target.closest?.('[data-control]') ? null : this.pixel(event));
    if (this.oneFinger && !this.drag && this.landed && Math.abs(event.clientX - this.landed[0]) > 24) {
      this.app.labels.hint('Move the map with two fingers'); // a page does not scroll sideways
    }
    if (this.drag) {
      event.stopPropagation();
      this.app.shape = rect(this.drag.start, this.app.sight.toLngLat(event, this.drag.viewport));
      this.app.render();
    } else if (this.ring) {
      this.app.draft = [...this.ring, this.app.sight.toLngLat(event)];
      this.app.render();
    }
  }

  up(event) {
    if (this.press) {
      // deck.gl's own click fails where drawing is slow: it allows a press of 250 ms at most.
      const [x, y] = this.press;
      this.press = null;
      const still = Math.hypot(event.clientX - x, event.clientY - y) < CLICK_PIXELS;
      if (!still) return;
      if (event.pointerType === 'touch') this.app.hover(this.pixel(event)); // a finger does not hover: a tap shows the tooltip
      this.app.clicked(...this.pixel(event));
    } else if (this.drag) {
      event.stopPropagation();
      const {at: [x, y], before} = this.drag;
      this.drag = null;
      if (Math.hypot(event.clientX - x, event.clientY - y) < CLICK_PIXELS) {
        this.app.shape = before;
        this.app.render();
        return;
      }
      this.app.finish(this.app.shape);
    } else if (this.polygonPress) {
      event.stopPropagation();
      const [x, y] = this.polygonPress;
      this.polygonPress = null;
      if (Math.hypot(event.clientX - x, event.clientY - y) < CLICK_PIXELS) this.addCorner(event);
    }
  }

  addCorner(event) {
    const near = place => {
      const [x, y] = this.app.sight.toPixels(place, event);
      return Math.hypot(x - event.clientX, y - event.clientY) < CLOSE_PIXELS;
    };
    if (this.ring && (near(this.ring[0]) || near(this.ring.at(-1)))) {
      this.close();
      return;
    }
    if (this.ring?.length === MAX_CORNERS) {
      this.app.labels.hint(`A polygon has at most ${MAX_CORNERS} corners: close it`);
      return;
    }
    const corner = this.app.sight.toLngLat(event);
    this.ring = [...this.ring ?? [], corner];
    this.app.draft = [...this.ring, corner];
    this.app.render();
  }

  /** Ends a polygon that has three corners or more. */
  close() {
    if (!this.ring) return;
    if (this.ring.length < 3) {
      this.app.labels.hint('A polygon needs at least three corners');
      return;
    }
    const ring = this.ring;
    this.ring = null;
    this.app.draft = null;
    this.app.finish(polygon(ring));
  }
}
