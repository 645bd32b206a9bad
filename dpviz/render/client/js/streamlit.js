/**
 * Entry point that Streamlit calls at every change of data or theme.
 *
 * A mount is a map, or the overlay of a map that it names; maps find their overlay, and overlays
 * their map, by the key both carry.
 */
import {MapApp} from './app.js';
import {h} from './dom.js';
import {prepared} from './gl.js';
import {loadDeck} from './loader.js';
import {columns} from './wire.js';

const mounts = new WeakMap(); // parent element -> {app, data}
const maps = new Map(); // key -> MapApp
const overlays = new Map(); // key -> the overlay's latest data

function showOverlay(key) {
  const data = overlays.get(key);
  if (data) maps.get(key)?.showOverlay(data.spec, columns(data));
}

function mountOverlay({data}) {
  const {target} = data.spec;
  overlays.set(target, data);
  showOverlay(target);
  return () => overlays.delete(target);
}

function mountMap({data, parentElement, setStateValue, setTriggerValue}) {
  const mount = mounts.get(parentElement) ?? {};
  mounts.set(parentElement, mount);
  mount.data = data;
  mount.gone = false;
  const {key, bundle} = data.spec;
  loadDeck(bundle).then(deck => {
    if (mount.gone || mount.data !== data) return;
    mount.app ??= new MapApp(parentElement, prepared(deck, window.luma));
    const {app} = mount;
    maps.set(key, app);
    app.emit = setStateValue;
    app.trigger = setTriggerValue;
    app.takeTheme();
    if (app.data === data) return;
    app.data = data;
    app.showScene(data.spec, columns(data));
    showOverlay(key);
  }).catch(error => {
    if (!mount.gone) parentElement.append(h('p', {class: 'failed', role: 'alert'}, error.message));
  });
  return () => {
    mount.gone = true;
    mount.app?.destroy();
    mounts.delete(parentElement);
    if (maps.get(key) === mount.app) maps.delete(key);
  };
}

export default function (args) {
  if (!args.data?.spec) return undefined;
  const {role, bundle} = args.data.spec;
  if (role === 'preload') {
    loadDeck(bundle).catch(() => {}); // the map itself will say so
    return undefined;
  }
  return role === 'overlay' ? mountOverlay(args) : mountMap(args);
}
