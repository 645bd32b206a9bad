/** The map's camera and viewports, and conversion between pixels and places. */
import {debounce} from './dom.js';
import {fitBounds} from './mercator.js';
import {degreesText} from '../draw/surround.js';

const SETTLED_MS = 700; // without movement, before Python gets the camera
const VISIT_ZOOMS = 3; // a named place is seen from this much nearer than the least zoom
const EARTH = [-180, -60, 180, 80]; // where people live
const MARGIN = 12; // pixels around the whole area
const SCALE_BAR = {wide: 160, high: 32}; // pixels at the lower right, in letters of usual size
export const NARROW = 560; // pixels: up to this width a window shows one map

/**
 * A valid camera for deck.gl: an address may hold any numbers. Its longitude is within ±180 degrees, as
 * deck.gl reports it, or shifted by 360 to the side where bounds across the meridian of 180° lie. `least` is its least zoom.
 */
function onEarth({longitude, latitude, zoom}, bounds, least) {
  const clamp = (value, most) => Math.min(Math.max(value, -most), most);
  const [west, , east] = bounds ?? [0, 0, 0];
  const middle = west < -180 || east > 180 ? (west + east) / 2 : 0;
  const turns = Math.abs(longitude - middle) > 180 ? Math.round((longitude - middle) / 360) : 0;
  return {longitude: clamp(longitude - 360 * turns, 540), latitude: clamp(latitude, 85), zoom: Math.min(Math.max(zoom, least), 22)};
}

export class Sight {
  constructor(app) {
    this.app = app;
    this.camera = null;
    this.least = 0; // zoom at which the public area takes half of the map's width or height, or the Earth all
    this.touched = false; // moved by the visitor: keep that view
    this.tell = debounce(({longitude, latitude, zoom}) => app.emit('camera', {longitude, latitude, zoom}), SETTLED_MS);
  }

  /** Sets the camera that Python requests: {key, and longitude, latitude, zoom or bounds}; the same key is the same request. */
  ask(start, refit) {
    if (this.camera && this.key === start.key && !(refit && !this.touched)) return;
    this.key = start.key;
    this.tell.cancel(); // of the area before
    this.camera = null;
    this.start = start;
  }

  /** Applies the requested camera as soon as the map has a size; keeps the visible part when the size changes. */
  fit() {
    const {width, height} = this.app.size();
    if (!width || !height) return;
    const {before} = this;
    this.before = {width, height, foot: this.app.film.element.hidden}; // a playback takes room
    const resized = before && Object.entries(this.before).some(([name, value]) => value !== before[name]);
    const earth = Math.min(this.fitted(EARTH).zoom, 0);
    const whole = this.app.domain ? this.fitted(this.app.domain).zoom : earth;
    this.least = Math.min(whole, Math.max(whole - 1, earth));
    if (this.start && (!this.camera || resized && !this.touched && this.start.bounds)) {
      const {longitude, latitude, zoom, bounds} = this.start;
      this.touched = false;
      this.camera = bounds ? this.fitted(bounds) : onEarth({longitude, latitude, zoom}, this.app.domain, this.least);
    } else if (this.camera && resized) {
      const grown = Math.log2(Math.min(width / before.width, height / before.height));
      this.camera = onEarth({...this.camera, zoom: this.camera.zoom + grown}, this.bounds, this.least);
    }
    this.app.render();
  }

  /** The camera that shows bounds as large as they get clear of boxes in pixels, each passed on one of its sides. */
  fitted(bounds, whole = this.app.size(), boxes = this.app.controls.boxes()) {
    const panes = this.app.panes();
    const [width, height] = [whole.width / panes.length, whole.height];
    const edge = Math.min(MARGIN, width / 30, height / 30);
    const {enlarged} = this.app.surround;
    const passed = (paddings, [x0, y0, x1, y1]) => {
      const left = width * Math.max(Math.floor(x0 / width), 0); // of the map that the box lies on
      const sides = {top: y1, right: left + width - x0, bottom: height - y0, left: x1 - left};
      return paddings.flatMap(padding => Object.entries(sides).map(([side, room]) => ({...padding, [side]: Math.max(padding[side], room)})));
    };
    return [...boxes, [width - SCALE_BAR.wide * enlarged, height - SCALE_BAR.high * enlarged, width, height]].reduce(passed, [{top: edge, right: edge, bottom: edge, left: edge}])
      .map(padding => fitBounds(bounds, {width, height, padding})).reduce((best, each) => each.zoom > best.zoom ? each : best);
  }

  /** Bounds of the public area; undefined if the host gives none. */
  get bounds() {
    return this.app.domain ?? this.start.bounds;
  }

  home() {
    const {bounds} = this;
    if (bounds) this.moved(this.fitted(bounds));
    this.touched = !bounds;
    return true;
  }

  moved({longitude, latitude, zoom}) {
    if (this.app.pointer.drag) return;
    const before = this.camera;
    this.camera = onEarth({longitude, latitude, zoom}, this.bounds, this.least);
    this.app.render();
    const same = Object.entries(this.camera).every(([name, value]) => Math.abs(value - before[name]) < 1e-9);
    if (same) return;
    this.touched = true;
    this.app.hover(null); // what was under the pointer has moved away
    this.tell(this.camera); // deck.gl also reports the camera that it was given
  }

  /** True for a place within the public area. */
  reaches({lon, lat}) {
    const [west, south, east, north] = this.bounds ?? [-180, -90, 180, 90];
    return west <= lon && lon <= east && south <= lat && lat <= north;
  }

  /** Goes to a named place and its surroundings, never farther away than now; its name comes first on the map from then on. */
  visit({name, lon: longitude, lat: latitude, from}) {
    this.visited = name;
    this.app.status.textContent = `The map shows ${name}`;
    this.moved({longitude, latitude, zoom: Math.max(this.camera.zoom, this.least + VISIT_ZOOMS, from + 1)});
  }

  zoomBy(step) {
    this.moved({...this.camera, zoom: this.camera.zoom + step});
    return true;
  }

  /** Viewports of the visible picture: the flat one's, until deck.gl's first picture is complete. */
  get viewports() {
    return (this.app.flat ?? this.app.deck).getViewports();
  }

  panBy(dx, dy) {
    const viewport = this.viewports[0];
    const [longitude, latitude] = viewport.unproject([viewport.width / 2 + dx, viewport.height / 2 + dy]);
    this.moved({...this.camera, longitude, latitude});
    return true;
  }

  viewportAt(event) {
    const {left, top} = this.app.root.getBoundingClientRect();
    return this.viewportOf([event.clientX - left, event.clientY - top]);
  }

  /** The viewport that contains a pixel of the map. */
  viewportOf([x, y]) {
    const {viewports} = this;
    return viewports.find(v => x >= v.x && x <= v.x + v.width && y >= v.y && y <= v.y + v.height) ?? viewports[0];
  }

  toLngLat(event, viewport = this.viewportAt(event)) {
    const box = this.app.root.getBoundingClientRect();
    const clamp = (value, top) => Math.min(Math.max(value, 0), top);
    return viewport.unproject([
      clamp(event.clientX - box.left - viewport.x, viewport.width), clamp(event.clientY - box.top - viewport.y, viewport.height)]);
  }

  toPixels(lngLat, event) {
    const viewport = this.viewportAt(event);
    const box = this.app.root.getBoundingClientRect();
    const [x, y] = viewport.project(lngLat);
    return [box.left + viewport.x + x, box.top + viewport.y + y];
  }

  unproject([x, y]) {
    const viewport = this.viewportOf([x, y]);
    return viewport.unproject([x - viewport.x, y - viewport.y]);
  }

  /** Shows the coordinates under the pointer, rounded to a pixel. */
  tellWhere(event) {
    if (event.pointerType === 'touch' || !this.camera) return;
    const [lon, lat] = this.toLngLat(event);
    const digits = Math.min(Math.max(Math.ceil((this.camera.zoom - 1) * 0.301), 1), 6);
    this.app.where.textContent = `${degreesText(lat, 'NS', digits)}  ${degreesText(lon, 'EW', digits)}`;
  }
}
