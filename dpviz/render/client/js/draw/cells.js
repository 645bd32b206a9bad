/**
 * CellLayer: the axis-aligned rectangles of a release, in classes of density.
 *
 * Nothing is instanced: bounds and values lie in data textures that the vertex shader reads by
 * gl_VertexID, six vertices a cell. Under software GL an instance costs about 40 µs, so this draws
 * 50,000 cells two to three times faster there, and no slower elsewhere.
 *
 * Bounds are offsets from `origin`, both in deck.gl's Web Mercator world units (512 to the globe), so
 * float32 resolves millimetres inside a city. The origin goes into the matrix, in double precision.
 *
 * Every node of the tree is on the graphics card. In adaptive detail a node is drawn while since ≤ zoom <
 * until (in tenths of a zoom), with the density of the area it belongs to; as a raw cell, while `depth` is
 * between its first and last level, with its own density. The visible rows are selected here and not
 * on the card: software GL would spend a third of each frame on vertices of invisible nodes.
 * Moving the camera uploads only the numbers of these rows.
 */
import {ALWAYS, cellAreas, ENCLOSED, hatchDensity} from './areas.js';

const ROW = 1024; // texels in a row of a data texture
const ZOOM_STEPS = 10; // per zoom, in `since` and `until`, which begin at zoom 0
const CLASSES = 8; // number of class bounds
const COLOURS = 16;
const FAINT = 0.5; // opacity of cells that show the density of a coarser cell; they are hatched

const UNIFORMS = `\
layout(std140) uniform cellUniforms {
  mat4 worldToClip;
  vec4 lowBounds;
  vec4 highBounds;
  vec4 hatchColor;
  vec2 clipX;
  float hatched;
  float raw;
  float pixelRatio;
  float twoSided;
} cell;
`;

const VERTEX = `#version 300 es
#define SHADER_NAME dpviz-cells-vertex
uniform highp sampler2D drawnTexture;
uniform highp sampler2D boundsTexture;
uniform highp sampler2D valuesTexture;
out vec2 corner;
flat out float shade;
flat out float strength;
flat out float below;
void main(void) {
  int place = gl_VertexID / 6;
  int k = gl_VertexID - place * 6;
  int id = int(texelFetch(drawnTexture, ivec2(place % ${ROW}, place / ${ROW}), 0).r + 0.5);
  ivec2 at = ivec2(id % ${ROW}, id / ${ROW});
  vec4 bounds = texelFetch(boundsTexture, at, 0);
  vec4 values = texelFetch(valuesTexture, at, 0); // density, opacity, begin, end
  corner = vec2(float(k == 1 || k == 2 || k == 4), float(k == 2 || k == 4 || k == 5));
  vec2 world = mix(bounds.xy, bounds.zw, corner);
  gl_Position = cell.worldToClip * vec4(world, 0.0, 1.0);
  vec4 low = step(cell.lowBounds, vec4(values.x));
  vec4 high = step(cell.highBounds, vec4(values.x));
  shade = low.x + low.y + low.z + low.w + high.x + high.y + high.z + high.w - 1.0; // −1: below the first bound
  if (cell.twoSided > 0.5) shade = abs(shade - 3.0) < 0.5 ? -1.0 : shade + 1.0; // the middle one of nine classes is blank
  strength = values.y;
  below = values.x < 0.0 && cell.twoSided < 0.5 ? max(cell.raw, cell.hatched) : 0.0;
}
`;

const FRAGMENT = `#version 300 es
#define SHADER_NAME dpviz-cells-fragment
precision highp float;
uniform sampler2D palette;
in vec2 corner;
flat in float shade;
flat in float strength;
flat in float below;
out vec4 fragColor;
void main(void) {
  if (gl_FragCoord.x < cell.clipX.x || gl_FragCoord.x > cell.clipX.y) discard;
  vec2 width = fwidth(corner) * cell.pixelRatio;
  float pixels = 1.0 / max(max(width.x, width.y), 1e-9); // the cell's shorter side on the screen
  vec3 color = texelFetch(palette, ivec2(int(max(shade, 0.0) + 0.5), 0), 0).rgb;
  float alpha = shade < -0.5 ? 0.0 : strength;
  if (below > 0.5) {
    float line = step(0.72, fract((gl_FragCoord.x + gl_FragCoord.y) / cell.pixelRatio / 8.0));
    color = cell.hatchColor.rgb;
    alpha = line * cell.hatchColor.a * step(8.0, pixels);
  }
  if (cell.raw < 0.5 && strength < 0.99 && pixels > 6.0) { // hatched if large enough, else faint
    alpha *= mix(0.5, 1.3, step(0.5, fract((gl_FragCoord.x - gl_FragCoord.y) / cell.pixelRatio / 5.0)));
  }
  fragColor = vec4(color, alpha * layer.opacity);
}
`;

const UNIFORM_MODULE = {
  name: 'cell', vs: UNIFORMS, fs: UNIFORMS, source: '',
  uniformTypes: {
    worldToClip: 'mat4x4<f32>', lowBounds: 'vec4<f32>', highBounds: 'vec4<f32>', hatchColor: 'vec4<f32>',
    clipX: 'vec2<f32>', hatched: 'f32', raw: 'f32', pixelRatio: 'f32', twoSided: 'f32',
  },
};

/** Density, opacity, begin and end of every cell in adaptive detail, as texels of one texture. */
function adaptiveValues(length, columns, areas, least) {
  const {getDensity, getStrength, getKind, getGroup, getSince, getUntil} = columns;
  const values = new Float32Array(length * 4);
  for (let i = 0; i < length; i++) {
    const group = getGroup?.value[i];
    const enclosed = getKind?.value[i] === ENCLOSED;
    if (getDensity) values[4 * i] = getDensity.value[i];
    else if (enclosed) values[4 * i] = hatchDensity(columns, i, least);
    else values[4 * i] = areas.quiet[group] ? 0 : areas.total[group] / areas.km2[group];
    values[4 * i + 1] = enclosed ? FAINT : getStrength?.value[i] ?? 1;
    values[4 * i + 2] = getSince.value[i];
    values[4 * i + 3] = getUntil.value[i];
  }
  return values;
}

function rawValues(length, {getCount, getNoiseSd, getKm2, getFirst, getLast}) {
  const values = new Float32Array(length * 4);
  for (let i = 0; i < length; i++) {
    const sd = getNoiseSd.value[i];
    values[4 * i] = getCount.value[i] / getKm2.value[i];
    values[4 * i + 1] = sd > 0 ? Math.min(Math.abs(getCount.value[i]) / sd / 2, 1) : 1; // opaque from twice the noise
    values[4 * i + 2] = getFirst.value[i];
    values[4 * i + 3] = getLast.value[i];
  }
  return values;
}

const tables = new WeakMap();

/** Boxes and drawn values of a layer's cells, adaptive or raw; cached with its data. */
export function cellTable({data, raw, bounds: [least]}) {
  const made = tables.get(data) ?? {};
  tables.set(data, made);
  const {length, attributes} = data;
  return made[raw ? 'raw' : least] ??= {
    length, boxes: attributes.getBounds.value,
    values: raw ? rawValues(length, attributes) : adaptiveValues(length, attributes, attributes.getGroup && cellAreas(attributes), least),
  };
}

/** Bounds of the camera's view, one pixel wider: west, south, east, north as offsets from `origin`. */
export function sight({longitude, latitude, width, height, scale, projectFlat}, origin) {
  const [x, y] = projectFlat([longitude, latitude]).map((each, i) => each - origin[i]);
  const [across, up] = [width / 2 + 1, height / 2 + 1].map(each => each / scale);
  return [x - across, y - up, x + across, y + up];
}

/** Rows of the visible cells in table order. The card stores them as floats: exact up to 2^24. */
export function drawnRows(length, boxes, values, [west, south, east, north], {raw, depth, zoom}) {
  const rows = [];
  const step = Math.max(zoom, 0) * ZOOM_STEPS;
  for (let i = 0; i < length; i++) {
    const [begin, end] = [values[4 * i + 2], values[4 * i + 3]];
    const shown = raw ? begin <= depth && depth <= end : begin <= step && (step < end || end === ALWAYS) && begin < ALWAYS;
    if (shown && boxes[4 * i] <= east && boxes[4 * i + 2] >= west && boxes[4 * i + 1] <= north && boxes[4 * i + 3] >= south) rows.push(i);
  }
  return rows;
}

/** Creates the class once deck.gl has loaded, because it extends deck.gl's Layer. */
export function makeCellLayer({Layer, project32}, {Model}) {
  return class CellLayer extends Layer {
    static layerName = 'CellLayer';
    static defaultProps = {
      origin: {type: 'array', value: [0, 0], compare: true},
      bounds: {type: 'array', value: [1], compare: true},
      colors: {type: 'array', value: [[0, 0, 0]], compare: true},
      hatchColor: {type: 'array', value: [125, 97, 197], compare: true},
      clipX: {type: 'array', value: [-1e9, 1e9], compare: true},
      depth: 255,
      raw: false,
      signed: false,
      fixed: false, // one picture without raw cells, such as a difference
      hatched: false, // hatch negative values in adaptive detail too
      unseen: false, // a smooth picture is drawn instead
    };

    getShaders() {
      return super.getShaders({vs: VERTEX, fs: FRAGMENT, modules: [project32, UNIFORM_MODULE]});
    }

    initializeState() {
      this.state.model = new Model(this.context.device, {
        ...this.getShaders(), id: this.props.id, bufferLayout: [], topology: 'triangle-list', vertexCount: 0, isInstanced: false,
      });
    }

    updateState({props, oldProps}) {
      if (props.colors !== oldProps.colors || !this.state.palette) {
        const texels = new Uint8Array(COLOURS * 4);
        props.colors.slice(0, COLOURS).forEach((colour, i) => texels.set([...colour.slice(0, 3), 255], 4 * i));
        this._texture('palette', COLOURS, 1, 'rgba8unorm', texels);
      }
      const changed = props.data !== oldProps.data || props.bounds[0] !== oldProps.bounds?.[0];
      if (!props.data?.attributes || !(changed || props.raw !== oldProps.raw)) return;
      const {length} = props.data;
      const rows = Math.max(1, Math.ceil(length / ROW));
      const texels = source => {
        const padded = new Float32Array(ROW * rows * 4);
        padded.set(source);
        return padded;
      };
      if (length) {
        const table = cellTable(props);
        if (changed || !this.state.bounds) this._texture('bounds', ROW, rows, 'rgba32float', texels(table.boxes));
        this._texture('values', ROW, rows, 'rgba32float', texels(table.values));
        this.setState({table, drawnFor: null});
      }
    }

    /** Uploads the rows of the cells visible to this camera and returns their number. */
    _chosen(viewport) {
      const {origin, raw, depth} = this.props;
      const {table} = this.state;
      const {zoom} = viewport;
      const around = sight(viewport, origin);
      const wanted = JSON.stringify([around, raw, depth, zoom]);
      if (this.state.drawnFor !== wanted) {
        const rows = drawnRows(table.length, table.boxes, table.values, around, {raw, depth, zoom});
        const high = Math.max(1, Math.ceil(rows.length / ROW));
        const texels = new Float32Array(ROW * high);
        texels.set(rows);
        this.state.drawn?.destroy();
        const drawn = this._onCard(ROW, high, 'r32float', texels);
        Object.assign(this.state, {drawn, drawnFor: wanted, count: rows.length}); // setState would trigger another redraw
      }
      return this.state.count;
    }

    _texture(name, width, height, format, data) {
      this.state[name]?.destroy();
      this.setState({[name]: this._onCard(width, height, format, data)});
    }

    _onCard(width, height, format, data) {
      const sampler = {minFilter: 'nearest', magFilter: 'nearest', addressModeU: 'clamp-to-edge', addressModeV: 'clamp-to-edge'};
      return this.context.device.createTexture({width, height, format, data, sampler});
    }

    getNumInstances() {
      return this.props.data?.length ?? 0;
    }

    draw() {
      const {bounds, values, palette, model} = this.state;
      const {viewport} = this.context;
      if (!bounds || this.props.unseen || !this.props.data?.length || !this._chosen(viewport)) return;
      const {origin, clipX, raw} = this.props;
      const starts = [...this.props.bounds, ...Array(CLASSES).fill(3e38)].slice(0, CLASSES);
      const bytes = colour => colour.map(c => c / 255);
      model.setVertexCount(this.state.count * 6);
      model.setBindings({drawnTexture: this.state.drawn, boundsTexture: bounds, valuesTexture: values, palette});
      model.shaderInputs.setProps({cell: {
        worldToClip: translated(viewport.viewProjectionMatrix, origin),
        lowBounds: starts.slice(0, 4), highBounds: starts.slice(4),
        hatchColor: [...bytes(this.props.hatchColor.slice(0, 3)), 0.75],
        clipX, hatched: this.props.hatched ? 1 : 0, raw: raw ? 1 : 0,
        pixelRatio: window.devicePixelRatio || 1, twoSided: this.props.signed ? 1 : 0,
      }});
      model.draw(this.context.renderPass);
    }

    finalizeState(context) {
      super.finalizeState(context);
      for (const name of ['drawn', 'bounds', 'values', 'palette', 'model']) this.state[name]?.destroy();
    }
  };
}

/** The column-major matrix `m` after a translation by (x, y), in double precision. */
function translated(m, [x, y]) {
  const result = Array.from(m);
  for (let row = 0; row < 4; row++) result[12 + row] = m[row] * x + m[4 + row] * y + m[12 + row];
  return result;
}
