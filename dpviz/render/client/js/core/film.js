/** The film of a scene: layers with a `frame` are all on the card, and one of them is seen. A step uploads nothing. */
import {h} from './dom.js';
import {Player} from './player.js';

export class Film {
  constructor(app) {
    this.app = app;
    this.spec = null;
    this.element = h('div', {class: 'film', hidden: true});
  }

  update(spec) {
    if (JSON.stringify(spec) === JSON.stringify(this.spec)) return;
    this.spec = spec;
    this.app.player?.play(false);
    this.app.player = spec && new Player(spec.labels, () => this.seen(), {what: 'Window'});
    this.element.hidden = !spec;
    this.element.replaceChildren(...spec ? [this.app.player.element] : []);
  }

  /** Another frame; how long until it was drawn is what timings read. */
  seen() {
    this.since = performance.now();
    this.app.render();
  }

  /** The frame of the picture that has just been drawn. */
  drawn() {
    if (!this.spec) return;
    const {root, player} = this.app;
    root.dataset.frame = player.at;
    if (this.since) root.dataset.stepMs = performance.now() - this.since;
    this.since = 0;
  }

  /** Layers of a frame are seen while it is shown. */
  applied(layer) {
    if (!this.spec || layer.props.frame === undefined) return layer;
    return layer.clone({visible: layer.props.frame === this.app.player.at});
  }
}
