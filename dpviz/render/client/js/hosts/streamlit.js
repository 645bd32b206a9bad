/**
 * Entry point of a map in the app, called by Streamlit at every change of data or theme.
 */
import {MapApp} from '../core/app.js';
import {h} from '../core/dom.js';
import {prepared} from '../core/gl.js';
import {loadDeck} from '../core/loader.js';
import {maps, showOverlay} from '../core/together.js';
import {columns} from '../core/wire.js';

const IDLE_TIMEOUT = 500; // ms after which deck.gl starts even if the browser is busy
const mounts = new WeakMap(); // parent element -> {app, data, deck}

/** Waits until the browser is idle: starting deck.gl would delay the page's text. */
const whenIdle = call => (window.requestIdleCallback ?? setTimeout)(call, {timeout: IDLE_TIMEOUT});

export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  if (!data?.spec) return undefined;
  const mount = mounts.get(parentElement) ?? {};
  mounts.set(parentElement, mount);
  const {key, bundle} = data.spec;
  const app = mount.app ??= new MapApp(parentElement);
  maps.set(key, app);
  app.emit = setStateValue;
  app.trigger = setTriggerValue;
  app.setHeight(data.spec.height);
  app.takeTheme();
  if (mount.data !== data) {
    mount.data = data;
    app.showScene(data.spec, columns(data));
    showOverlay(key);
  }
  mount.deck ??= new Promise(whenIdle).then(async () => {
    const gl = await prepared(() => loadDeck(bundle));
    if (mount.gone) return;
    if (gl) app.take(gl);
    else app.stayFlat();
  }).catch(error => {
    mount.deck = null; // the next run may try again
    if (!mount.gone && !parentElement.querySelector('.failed')) parentElement.append(h('p', {class: 'failed', role: 'alert'}, error.message));
  });
  const call = mount.calls = (mount.calls ?? 0) + 1;
  return () => {
    if (call !== mount.calls) return; // Streamlit also finishes calls that a newer call has replaced
    mount.gone = true;
    app.destroy();
    mounts.delete(parentElement);
    if (maps.get(key) === app) maps.delete(key);
  };
}
