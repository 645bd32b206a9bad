/**
 * Playback below the map, of a film or of a clock. A film has layers with a `frame`, one of them visible: all are on the
 * card, so a step uploads nothing. A clock moves animated layers (TripsLayer) from `start` to `end` in `seconds`.
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
    const steps = clock ? clock.end - clock.start : 0;
    const names = film?.labels ?? Array.from({length: MOMENTS + 1}, (_, at) => `step ${Math.max(1, Math.ceil(at / MOMENTS * steps))} of ${steps}`);
    const how = film ? {what: 'Window'} : {what: 'Moment', ends: [1, steps], pause: 1000 * clock?.seconds / MOMENTS, test: 'dpviz-clock'};
    this.app.player?.play(false);
    this.app.player = film || clock ? new Player(names, () => this.seen(), how) : null;
    this.element.hidden = !this.app.player;
    this.element.replaceChildren(...this.app.player ? [this.app.player.element] : []);
    if (clock && !matchMedia('(prefers-reduced-motion: reduce)').matches) this.app.player.play(true);
  }

  /** Draws another frame; the time until it is drawn is recorded for timings. */
  seen() {
    this.since = performance.now();
    this.app.render();
  }

  /** Records the frame that has just been drawn. */
  drawn() {
    if (!this.film) return;
    const {root, player} = this.app;
    root.dataset.frame = player.at;
    if (this.since) root.dataset.stepMs = performance.now() - this.since;
    this.since = 0;
  }

  /** The layer at the current frame or time: a layer with a `frame` is visible in it, one with a `currentTime` gets the clock's. */
  applied(layer) {
    const {player} = this.app;
    if (this.film && layer.props.frame !== undefined) return layer.clone({visible: layer.props.frame === player.at});
    if (!this.clock || !('currentTime' in layer.props)) return layer;
    const {start, end} = this.clock;
    return layer.clone({currentTime: start + player.at / MOMENTS * (end - start)});
  }
}
