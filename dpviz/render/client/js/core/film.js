/**
 * What a scene plays, below the map: its film, layers with a `frame` of which one is seen (all are on the card, so that a
 * step uploads nothing), or the clock of animated layers (TripsLayer), which runs from `start` to `end` in `seconds`.
 */
import {h} from './dom.js';
import {Player} from './player.js';

const MOMENTS = 600; // steps of a clock

export class Film {
  constructor(app) {
    this.app = app;
    this.key = JSON.stringify([null, null]);
    this.element = h('div', {class: 'film', hidden: true});
  }

  update(film, clock) {
    const key = JSON.stringify([film, clock]);
    if (key === this.key) return;
    this.key = key;
    this.film = film;
    this.clock = clock;
    const names = film?.labels ?? Array.from({length: MOMENTS + 1}, (_, at) => `${Math.floor(100 * at / MOMENTS)} %`);
    const how = film ? {what: 'Window'} : {what: 'Moment', pause: 1000 * clock?.seconds / MOMENTS, test: 'dpviz-clock'};
    this.app.player?.play(false);
    this.app.player = film || clock ? new Player(names, () => this.seen(), how) : null;
    this.element.hidden = !this.app.player;
    this.element.replaceChildren(...this.app.player ? [this.app.player.element] : []);
    if (clock && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.app.player.play(true);
  }

  /** Another frame; how long until it was drawn is what timings read. */
  seen() {
    this.since = performance.now();
    this.app.render();
  }

  /** The frame of the picture that has just been drawn. */
  drawn() {
    if (!this.film) return;
    const {root, player} = this.app;
    root.dataset.frame = player.at;
    if (this.since) root.dataset.stepMs = performance.now() - this.since;
    this.since = 0;
  }

  /** Layers of a frame are seen while it is shown; those with a `currentTime` show the clock's. */
  applied(layer) {
    const {player} = this.app;
    if (this.film && layer.props.frame !== undefined) return layer.clone({visible: layer.props.frame === player.at});
    if (!this.clock || !('currentTime' in layer.props)) return layer;
    const {start, end} = this.clock;
    return layer.clone({currentTime: start + player.at / MOMENTS * (end - start)});
  }
}
