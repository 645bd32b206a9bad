/** Entry point of what lies over a map, sent at every answer: small, since the program comes with it each time. */
import {overlays, showOverlay} from '../core/together.js';

export default function ({data}) {
  if (!data?.spec) return undefined;
  const {target} = data.spec;
  overlays.set(target, data);
  showOverlay(target);
  return () => overlays.get(target) === data && overlays.delete(target);
}
