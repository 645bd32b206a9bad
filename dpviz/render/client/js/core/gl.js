/** deck.gl as a map needs it: with a converter from JSON that knows its layers and our own. */
import {makeCellLayer} from '../draw/cells.js';

/** Names of places: no drawing of its own, `surround.js` writes them over the map. */
function makePlaceLayer({Layer}) {
  return class PlaceLayer extends Layer {
    static layerName = 'PlaceLayer';
    initializeState() {}
  };
}

const LAYERS = ['PathLayer', 'ScatterplotLayer', 'SolidPolygonLayer', 'TripsLayer']; // that Python names
let gl;
let able;

/** Whether this browser draws with WebGL; asked once a page. */
function hasWebGL() {
  if (able === undefined) {
    const pen = document.createElement('canvas').getContext('webgl2');
    able = Boolean(pen);
    pen?.getExtension('WEBGL_lose_context')?.loseContext();
  }
  return able;
}

/** {deck, converter}, made once a page from the two globals that `load` brings; null where WebGL is not. */
export async function prepared(load) {
  if (!hasWebGL()) return null;
  const {deck, luma} = await load();
  if (gl) return gl;
  const classes = {CellLayer: makeCellLayer(deck, luma), PlaceLayer: makePlaceLayer(deck), ...Object.fromEntries(LAYERS.map(name => [name, deck[name]]))};
  gl = {deck, converter: new deck.JSONConverter({configuration: {classes}})};
  return gl;
}
