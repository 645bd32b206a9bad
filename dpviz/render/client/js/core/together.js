/** Maps and overlays of a page: each mounts by its own program, and a shared key connects them. */
import {columns} from './wire.js';

// maps: key -> MapApp; overlays: key -> the overlay's latest data
export const {maps, overlays} = window.dpvizMaps ??= {maps: new Map(), overlays: new Map()};

export function showOverlay(key) {
  const data = overlays.get(key);
  if (data) maps.get(key)?.showOverlay(data.spec, columns(data));
}
