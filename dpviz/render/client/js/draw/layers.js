/** The layers to draw: a scene's layers adapted to theme, zoom, side of a comparison, clock and film. */
import {FlatViewport} from '../core/mercator.js';
import {shapeLayers} from '../input/shapes.js';
import {smoothImage} from './smooth.js';

/** Properties that replace others on a dark page: `getColorDark` replaces `getColor`. */
export function darkConstants(props) {
  const dark = Object.entries(props).filter(([name]) => name.endsWith('Dark'));
  return Object.fromEntries(dark.map(([name, value]) => [name.slice(0, -4), value]));
}

/** Named places of all place layers: {name, lon, lat, rank, from (zoom), dot, fixed, room (of an area: width at zoom 0)}. */
export function placesIn(marks) {
  return marks.filter(({constructor, props}) => constructor.layerName === 'PlaceLayer' && props.visible !== false).flatMap(({props}) => {
    const {getPosition, getName, getRank, getFrom, getRoom} = props.data.attributes;
    return Array.from({length: props.data.length}, (_, i) => ({
      lon: getPosition.value[2 * i], lat: getPosition.value[2 * i + 1], name: getName.value[i],
      rank: getRank.value[i], from: getFrom.value[i], dot: Boolean(props.dots), fixed: Boolean(props.fixed), room: getRoom?.value[i]}));
  });
}

/** True for cells on a scale of densities, which can be locked and smoothed. */
export const isClassed = ({constructor, props}) => constructor.layerName === 'CellLayer' && !props.signed && !props.fixed;

/** The cells, invisible but available to the tooltip, and their smooth picture. */
function smoothed(app, layer, camera, {width, height}) {
  const shown = smoothImage(layer.props, new FlatViewport({width: width / app.panes().length, height, ...camera}));
  const unseen = layer.clone({unseen: true});
  if (!shown) return [unseen];
  const {opacity, side: of} = layer.props;
  return [unseen, new app.gl.deck.BitmapLayer({id: `${layer.id}-smooth`, ...shown, opacity, side: of})];
}

/** All visible layers, the lowest first. */
export function drawnLayers(app, camera = app.camera, size = app.size()) {
  const {theme, view} = app;
  const divide = app.split * size.width * (window.devicePixelRatio || 1);
  const {zoom} = camera;
  const dressed = layer => {
    const changes = {};
    if (layer.constructor.layerName === 'CellLayer') {
      const {palettes, palette, raw, signed, fixed, hatched} = layer.props;
      Object.assign(changes, {
        depth: view.depth, raw: raw || view.raw && !signed && !fixed, hatchColor: hatched ? theme.frame : theme.hatch,
        colors: (palettes[view.palette] ?? palettes[palette])[app.themeName], opacity: app.tiles.shown ? 0.75 : 0.94,
      });
      if (app.mode === 'swipe') changes.clipX = layer.props.side === 0 ? [-1e9, divide] : [divide, 1e9];
    }
    if (layer.props.fade) {
      const [start, end] = layer.props.fade;
      const opacity = Math.min(Math.max((end - zoom) / (end - start), 0), 1);
      Object.assign(changes, {opacity, visible: opacity > 0 && !(app.tiles.shown && layer.props.ground)});
    } else if (layer.props.ground) changes.visible = !app.tiles.shown;
    return Object.keys(changes).length ? layer.clone(changes) : layer;
  };
  const covered = layer => app.overlayLegend && layer.constructor.layerName === 'CellLayer'; // the overlay's legend replaces the scene's: only one scale is shown
  const all = [...app.scene.filter(layer => !covered(layer)), ...app.overlay].map(dressed).map(layer => app.film.applied(layer))
    .flatMap(layer => view.smooth && isClassed(layer) && layer.props.visible !== false && !layer.props.raw && layer.props.data?.length ? smoothed(app, layer, camera, size) : [layer]);
  return [
    ...app.tiles.layers(app.gl.deck, app.dark),
    ...all.filter(layer => layer.props.ground),
    ...all.filter(layer => !layer.props.ground),
    ...shapeLayers(app.gl.deck, app.shape, app.draft, app.accent, theme.halo),
  ];
}
