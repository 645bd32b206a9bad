/** Web Mercator as in deck.gl, without deck.gl: the camera that fits bounds, and its viewport. */

export const WORLD = 512; // units around the globe
const TURN = Math.PI / 180;
const MOST = 85.051129; // degrees north and south at which the map is square

/** World units of a place; north and south of the square map, those of its edge. */
export function worldOf([lon, lat]) {
  const shown = Math.min(Math.max(lat, -MOST), MOST);
  return [WORLD * (lon / 360 + 0.5), WORLD * (0.5 + Math.log(Math.tan(Math.PI / 4 + shown * TURN / 2)) / (2 * Math.PI))];
}

export const degreesOf = ([x, y]) => [(x / WORLD - 0.5) * 360, 2 * (Math.atan(Math.exp((y / WORLD - 0.5) * 2 * Math.PI)) / TURN - 45)];

/** The camera {longitude, latitude, zoom} that fits bounds into a map's pixels minus its padding. */
export function fitBounds([west, south, east, north], {width, height, padding}) {
  const [[x0, y0], [x1, y1]] = [worldOf([west, south]), worldOf([east, north])];
  const across = Math.max(width - padding.left - padding.right, 1) / Math.max(x1 - x0, 1e-12);
  const up = Math.max(height - padding.top - padding.bottom, 1) / Math.max(y1 - y0, 1e-12);
  const [longitude, latitude] = degreesOf([
    (x0 + x1 + (padding.right - padding.left) / across) / 2, (y0 + y1 + (padding.top - padding.bottom) / up) / 2]);
  return {longitude, latitude, zoom: Math.log2(Math.min(across, up))};
}

/** The viewport of a camera that looks straight down, with the names of deck.gl's viewports. */
export class FlatViewport {
  constructor({id, x = 0, y = 0, width, height, longitude, latitude, zoom}) {
    Object.assign(this, {id, x, y, width, height, longitude, latitude, zoom});
    this.scale = 2 ** zoom;
    this.center = worldOf([longitude, latitude]);
    this.metres = Math.cos(latitude * TURN) * 40_075_017 / (WORLD * this.scale); // per pixel
    this.projectFlat = worldOf;
  }

  /** Pixels from world units. */
  pixels([x, y]) {
    return [this.width / 2 + (x - this.center[0]) * this.scale, this.height / 2 - (y - this.center[1]) * this.scale];
  }

  project(lngLat) {
    return this.pixels(worldOf(lngLat));
  }

  unproject([x, y]) {
    return degreesOf([this.center[0] + (x - this.width / 2) / this.scale, this.center[1] - (y - this.height / 2) / this.scale]);
  }

  getBounds() {
    const [[west, south], [east, north]] = [this.unproject([0, this.height]), this.unproject([this.width, 0])];
    return [west, south, east, north];
  }
}
