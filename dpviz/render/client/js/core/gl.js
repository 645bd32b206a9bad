/** deck.gl, with a JSON converter that knows its layers and our own. */
import {makeCellLayer} from '../draw/cells.js';

/** Place names: this layer draws nothing, `surround.js` writes them above the map. */
function makePlaceLayer({Layer}) {
  return class PlaceLayer extends Layer {
    static layerName = 'PlaceLayer';
    initializeState() {}
  };
}

const LAYERS = ['PathLayer', 'ScatterplotLayer', 'SolidPolygonLayer', 'TripsLayer']; // those that Python names
let gl;
let able;

/** True if this browser has WebGL; tested once per page. */
function hasWebGL() {
  if (able === undefined) {
    const pen = document.createElement('canvas').getContext('webgl2');
    able = Boolean(pen);
    pen?.getExtension('WEBGL_lose_context')?.loseContext();
  }
  return able;
}

/** {deck, converter}, made once per page from the two globals that `load` sets; null without WebGL. */
export async function prepared(load) {
  if (!hasWebGL()) return null;
  const {deck, luma} = await load();
  if (gl) return gl;
  const classes = {CellLayer: makeCellLayer(deck, luma), PlaceLayer: makePlaceLayer(deck), ...Object.fromEntries(LAYERS.map(name => [name, deck[name]]))};
  gl = {deck, converter: new deck.JSONConverter({configuration: {classes}})};
  return gl;
}
