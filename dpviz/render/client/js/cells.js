/**
 * CellLayer: the axis-aligned rectangles of a release, coloured by density.
 *
 * Nothing is instanced: bounds and values lie in two data textures that the vertex shader reads by
 * gl_VertexID, six vertices a cell. Under software GL an instance costs about 40 µs, so this draws
 * 50,000 cells two to three times faster there, and no slower elsewhere.
 *
 * Bounds are offsets from `origin`, both in deck.gl's Web Mercator world units (512 to the globe), so
 * float32 resolves millimetres inside a city. The origin goes into the matrix, in double precision.
 *
 * Every node of the tree is on the card. A node is drawn while `depth` is within its two levels (an
 * inner node: its own level; a leaf: its own and all below), so moving the depth control uploads
 * nothing.
 */
import {paletteTexels} from './palette.js';

const ROW = 1024; // texels in a row of a data texture

const UNIFORMS = `\
layout(std140) uniform cellUniforms {
  mat4 worldToClip;
  vec4 noiseColor;
  vec4 negativeColor;
  vec4 edgeColor;
  vec2 domain;
  vec2 clipX;
  float logScale;
  float depth;
  float outline;
} cell;
`;

const VERTEX = `#version 300 es
#define SHADER_NAME dpviz-cells-vertex
uniform highp sampler2D boundsTexture;
uniform highp sampler2D valuesTexture;
out vec2 corner;
flat out float shade;
flat out float confidence;
flat out float sign;
void main(void) {
  int id = gl_VertexID / 6;
  int k = gl_VertexID - id * 6;
  ivec2 at = ivec2(id % ${ROW}, id / ${ROW});
  vec4 bounds = texelFetch(boundsTexture, at, 0);
  vec4 values = texelFetch(valuesTexture, at, 0); // density, |count| / noise sd, first and last level
  corner = vec2(float(k == 1 || k == 2 || k == 4), float(k == 2 || k == 4 || k == 5));
  vec2 world = mix(bounds.xy, bounds.zw, corner);
  geometry.worldPosition = vec3(world, 0.0);
  geometry.uv = corner;
  geometry.pickingColor = vec3(float((id + 1) & 255), float(((id + 1) >> 8) & 255), float(((id + 1) >> 16) & 255));
  gl_Position = cell.worldToClip * vec4(world, 0.0, 1.0);
  if (cell.depth < values.z || cell.depth > values.w) gl_Position = vec4(0.0, 0.0, 2.0, 1.0); // all six: nothing
  float value = values.x;
  sign = value < 0.0 ? -1.0 : 1.0;
  if (cell.logScale > 0.5) value = log(max(value, 1e-30));
  shade = clamp((value - cell.domain.x) / max(cell.domain.y - cell.domain.x, 1e-12), 0.0, 1.0);
  confidence = clamp(values.y * 0.5, 0.0, 1.0); // full colour from twice the noise
  vec4 unused = vec4(1.0);
  DECKGL_FILTER_COLOR(unused, geometry);
}
`;

const FRAGMENT = `#version 300 es
#define SHADER_NAME dpviz-cells-fragment
precision highp float;
uniform sampler2D palette;
in vec2 corner;
flat in float shade;
flat in float confidence;
flat in float sign;
out vec4 fragColor;
void main(void) {
  if (gl_FragCoord.x < cell.clipX.x || gl_FragCoord.x > cell.clipX.y) discard;
  vec3 color = texture(palette, vec2((shade * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  color = mix(cell.noiseColor.rgb, color, confidence);
  float alpha = mix(cell.noiseColor.a, 1.0, confidence);
  vec2 width = fwidth(corner);
  float pixels = 1.0 / max(width.x, width.y); // the cell's smaller side on the screen
  if (sign < 0.0) {
    float hatch = step(0.5, fract((gl_FragCoord.x + gl_FragCoord.y) / 9.0));
    float strength = mix(0.35, 1.0, hatch * smoothstep(4.0, 10.0, pixels));
    color = mix(cell.noiseColor.rgb, cell.negativeColor.rgb, strength);
    alpha = max(alpha, cell.negativeColor.a);
  }
  vec2 inside = min(corner, 1.0 - corner) / max(width, vec2(1e-9));
  float edge = 1.0 - smoothstep(0.0, 1.0, min(inside.x, inside.y));
  color = mix(color, cell.edgeColor.rgb, edge * smoothstep(4.0, 12.0, pixels) * cell.outline * cell.edgeColor.a);
  fragColor = vec4(color, alpha * layer.opacity);
  geometry.uv = corner;
  DECKGL_FILTER_COLOR(fragColor, geometry);
}
`;

const UNIFORM_MODULE = {
  name: 'cell', vs: UNIFORMS, fs: UNIFORMS, source: '',
  uniformTypes: {
    worldToClip: 'mat4x4<f32>', noiseColor: 'vec4<f32>', negativeColor: 'vec4<f32>', edgeColor: 'vec4<f32>',
    domain: 'vec2<f32>', clipX: 'vec2<f32>', logScale: 'f32', depth: 'f32', outline: 'f32',
  },
};

/** density, |count| / sd and the two levels of every cell, side by side for one texture. */
function cellValues(length, {getDensity, getCount, getNoise, getFirst, getLast}) {
  const values = new Float32Array(length * 4);
  for (let i = 0; i < length; i++) {
    const sd = getNoise.value[i];
    values[4 * i] = getDensity.value[i];
    values[4 * i + 1] = sd > 0 ? Math.abs(getCount.value[i]) / sd : 1e6;
    values[4 * i + 2] = getFirst.value[i];
    values[4 * i + 3] = getLast.value[i];
  }
  return values;
}

/** The class is made once deck.gl has loaded, because it extends deck.gl's Layer. */
export function makeCellLayer({Layer, project32, picking}, {Model}) {
  return class CellLayer extends Layer {
    static layerName = 'CellLayer';
    static defaultProps = {
      origin: {type: 'array', value: [0, 0], compare: true},
      domain: {type: 'array', value: [1, 1000], compare: true},
      logScale: true,
      stops: {type: 'array', value: [[0, 0, 0], [255, 255, 255]], compare: true},
      noiseColor: {type: 'array', value: [160, 160, 160, 140], compare: true},
      negativeColor: {type: 'array', value: [236, 167, 158, 200], compare: true},
      edgeColor: {type: 'array', value: [0, 0, 0, 120], compare: true},
      clipX: {type: 'array', value: [-1e9, 1e9], compare: true},
      depth: 255,
      outline: 1,
    };

    getShaders() {
      return super.getShaders({vs: VERTEX, fs: FRAGMENT, modules: [project32, picking, UNIFORM_MODULE]});
    }

    initializeState() {
      this.state.model = new Model(this.context.device, {
        ...this.getShaders(), id: this.props.id, bufferLayout: [], topology: 'triangle-list', vertexCount: 0, isInstanced: false,
      });
    }

    updateState({props, oldProps}) {
      if (props.stops !== oldProps.stops || !this.state.palette) {
        this._texture('palette', 256, 1, 'rgba8unorm', paletteTexels(props.stops), 'linear');
      }
      if (props.data !== oldProps.data && props.data?.attributes) {
        const {length, attributes} = props.data;
        const rows = Math.max(1, Math.ceil(length / ROW));
        const texels = source => {
          const padded = new Float32Array(ROW * rows * 4);
          padded.set(source);
          return padded;
        };
        if (length) {
          this._texture('bounds', ROW, rows, 'rgba32float', texels(attributes.getBounds.value), 'nearest');
          this._texture('values', ROW, rows, 'rgba32float', texels(cellValues(length, attributes)), 'nearest');
        }
        this.state.model.setVertexCount(length * 6);
      }
    }

    _texture(name, width, height, format, data, filter) {
      this.state[name]?.destroy();
      const sampler = {minFilter: filter, magFilter: filter, addressModeU: 'clamp-to-edge', addressModeV: 'clamp-to-edge'};
      this.setState({[name]: this.context.device.createTexture({width, height, format, data, sampler})});
    }

    getNumInstances() {
      return this.props.data?.length ?? 0;
    }

    draw() {
      const {bounds, values, palette, model} = this.state;
      if (!bounds || !this.props.data?.length) return;
      const {origin, domain, logScale, clipX, depth, outline} = this.props;
      const bytes = colour => colour.map(c => c / 255);
      model.setBindings({boundsTexture: bounds, valuesTexture: values, palette});
      model.shaderInputs.setProps({cell: {
        worldToClip: translated(this.context.viewport.viewProjectionMatrix, origin),
        noiseColor: bytes(this.props.noiseColor), negativeColor: bytes(this.props.negativeColor),
        edgeColor: bytes(this.props.edgeColor),
        domain: logScale ? domain.map(v => Math.log(Math.max(v, 1e-30))) : domain,
        clipX, logScale: logScale ? 1 : 0, depth, outline,
      }});
      model.draw(this.context.renderPass);
    }

    finalizeState(context) {
      super.finalizeState(context);
      for (const name of ['bounds', 'values', 'palette', 'model']) this.state[name]?.destroy();
    }
  };
}

/** The column-major matrix `m` after a translation by (x, y), in double precision. */
function translated(m, [x, y]) {
  const result = Array.from(m);
  for (let row = 0; row < 4; row++) result[12 + row] = m[row] * x + m[4 + row] * y + m[12 + row];
  return result;
}
