/**
 * A locked scale: maps that follow keep the classes and the legend of the one that was on the map when it was
 * locked, so that a colour means the same number in each. Scenes of a series ask for it by themselves.
 */
const classed = ({constructor, props}) => constructor.layerName === 'CellLayer' && !props.fixed && !props.signed;

export class Lock {
  on = false;

  constructor(app) {
    this.app = app;
  }

  /** Whether a legend is of a scale that can be locked. */
  fits(legend) {
    return Boolean(legend?.palettes && legend.classes.length);
  }

  set(on) {
    this.on = on;
    this.kept = null;
    this.take(this.app.sceneSpec);
  }

  /** Of a scene that is about to be shown: another domain or quantity has another scale. */
  take({legend, domain, locked}) {
    if (locked && this.asked !== JSON.stringify(domain)) this.on = true;
    this.asked = JSON.stringify(locked ? domain : null);
    if (!this.on || !this.fits(legend)) return;
    const of = JSON.stringify([domain, legend.title]);
    if (this.kept?.of === of) return;
    const layer = this.app.scene.find(classed);
    if (layer) this.kept = {of, legend, bounds: layer.props.bounds, palettes: layer.props.palettes};
  }

  /** Whether the scene's scale is not its own. */
  get holds() {
    const {legendSpec: legend, domain} = this.app;
    return this.on && this.kept?.of === JSON.stringify([domain, legend?.title]) ? this.kept : null;
  }

  legend(legend) {
    const kept = this.holds;
    if (!kept || legend !== this.app.legendSpec) return legend;
    const blank = legend === kept.legend ? legend.blank : kept.legend.blank.replace(/ \(.*\)$/, '');
    return {...legend, classes: kept.legend.classes, palettes: kept.legend.palettes, blank, empty: false};
  }

  /** Changes of a layer's properties. */
  dressed(layer) {
    const kept = this.holds;
    return kept && classed(layer) ? {bounds: kept.bounds, palettes: kept.palettes} : {};
  }
}
