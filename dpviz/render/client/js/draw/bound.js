/**
 * Layers from the host's JSON, bound to its columns in the form of wire.js.
 *
 * A layer whose columns have not changed keeps its data on the graphics card.
 */
import {darkConstants, placesIn} from './layers.js';
import {binaryData} from '../core/wire.js';

export class BoundLayers {
  constructor(app) {
    Object.assign(this, {app, scene: {}, overlay: {}, columns: {}, kept: new Map()});
  }

  /** Converts the layers of the `scene` or of the `overlay` after the host has sent new ones. */
  take(part, spec, columns) {
    this[part] = {spec, columns};
    this.columns = {...this.scene.columns, ...this.overlay.columns};
    this.app[part] = this.converted(this[part]);
  }

  /** Converts all layers again after a change of theme. */
  again() {
    for (const part of ['scene', 'overlay']) if (this[part].spec) this.app[part] = this.converted(this[part]);
  }

  converted({spec, columns}) {
    const {gl, dark} = this.app;
    const asked = (spec.layers ?? []).map(({pickable, ...layer}) => ({...layer, hit: pickable})); // our own hit test replaces deck.gl's picking: see hit.js
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

  /** Named places of all layers. */
  places() {
    const {scene, overlay} = this.app;
    if (this.placesOf?.scene !== scene || this.placesOf.overlay !== overlay) Object.assign(this, {placesOf: {scene, overlay}, placed: placesIn([...scene, ...overlay])});
    return this.placed;
  }
}
