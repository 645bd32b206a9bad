/** The maps of a page and their overlays: each mounts by a program of its own, and finds the other by the key both carry. */
import {columns} from './wire.js';

// maps: key -> MapApp; overlays: key -> the overlay's latest data
export const {maps, overlays} = window.dpvizMaps ??= {maps: new Map(), overlays: new Map()};

export function showOverlay(key) {
  const data = overlays.get(key);
  if (data) maps.get(key)?.showOverlay(data.spec, columns(data));
}
