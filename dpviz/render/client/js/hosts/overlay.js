/** Entry point of a map's overlay, sent with every answer: small, since its program comes with it each time. */
import {overlays, showOverlay} from '../core/together.js';

export default function ({data}) {
  if (!data?.spec) return undefined;
  const {target} = data.spec;
  overlays.set(target, data);
  showOverlay(target);
  return () => overlays.get(target) === data && overlays.delete(target);
}
