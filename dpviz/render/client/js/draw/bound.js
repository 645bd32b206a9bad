/**
 * Layers of the host's JSON, bound to its columns as wire.js has them.
 *
 * A layer whose columns are as before keeps its data, which stay on the card.
 */
import {darkConstants, placesIn} from './layers.js';
import {binaryData} from '../core/wire.js';

export class BoundLayers {
  constructor(app) {
    Object.assign(this, {app, scene: {}, overlay: {}, columns: {}, kept: new Map()});
  }

  /** Layers of the `scene` or of the `overlay`, after a change of what the host gives for it. */
  take(part, spec, columns) {
    this[part] = {spec, columns};
    this.columns = {...this.scene.columns, ...this.overlay.columns};
    this.app[part] = this.converted(this[part]);
  }

  /** All layers anew, after a change of theme. */
  again() {
    for (const part of ['scene', 'overlay']) if (this[part].spec) this.app[part] = this.converted(this[part]);
  }

  converted({spec, columns}) {
    const {gl, dark} = this.app;
    const asked = (spec.layers ?? []).map(({pickable, ...layer}) => ({...layer, hit: pickable})); // by us: see hit.js
    const layers = gl.converter.convert({layers: asked}).layers ?? [];
    return layers.map(layer => {
      const bindings = spec.bind?.[layer.id];
      const constants = dark ? darkConstants(layer.props) : {};
      return layer.clone(bindings ? {data: this.dataOf(layer.id, bindings, columns), ...constants} : constants);
    });
  }

  dataOf(id, bindings, columns) {
    const {dark} = this.app;
    const now = [dark, ...Object.values(bindings).flatMap(name => [name, columns[name]?.value])];
    const before = this.kept.get(id);
    if (before?.now.length === now.length && before.now.every((each, i) => each === now[i])) return before.data;
    const data = binaryData(bindings, columns, dark);
    this.kept.set(id, {now, data});
    return data;
  }

  /** Named places of all marks. */
  places() {
    const {scene, overlay} = this.app;
    if (this.placesOf?.scene !== scene || this.placesOf.overlay !== overlay) Object.assign(this, {placesOf: {scene, overlay}, placed: placesIn([...scene, ...overlay])});
    return this.placed;
  }
}
