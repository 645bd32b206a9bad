/** The clock of animated layers (TripsLayer): runs from `start` to `end` in `seconds`, and round again. */
import {h} from './dom.js';

const SPEEDS = [1, 2, 4, 0.5];

export class Clock {
  constructor(app) {
    this.app = app;
    this.spec = null;
    this.playing = false;
    this.time = 0;
    this.button = h('button', {type: 'button', 'data-testid': 'dpviz-play', onclick: () => this.play(!this.playing)});
    this.slider = h('input', {type: 'range', min: 0, max: 1, step: 0.001, 'aria-label': 'Time of the animation',
      oninput: () => { this.play(false); this.seek(Number(this.slider.value)); }});
    this.pace = h('button', {type: 'button', class: 'pace', 'data-testid': 'dpviz-speed', onclick: () => this.setSpeed(SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length])});
    this.element = h('div', {class: 'clock', hidden: true, 'data-control': ''}, this.button, this.slider, this.pace);
    app.root.append(this.element);
    this.setSpeed(1);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.pace.textContent = `${speed === 0.5 ? '½' : speed}×`;
    this.pace.setAttribute('aria-label', `Speed of the animation: ${speed} times`);
  }

  update(spec) {
    if (JSON.stringify(spec) === JSON.stringify(this.spec)) return;
    this.spec = spec;
    this.element.hidden = !spec;
    if (!spec) { this.play(false); return; }
    this.seek(0);
    this.play(!matchMedia('(prefers-reduced-motion: reduce)').matches);
  }

  seek(fraction) {
    const {start, end} = this.spec;
    this.time = start + fraction * (end - start);
    this.slider.value = fraction;
    this.app.render();
  }

  play(on) {
    this.playing = on;
    this.button.textContent = on ? '❚❚' : '►';
    this.button.setAttribute('aria-label', on ? 'Pause the animation' : 'Play the animation');
    cancelAnimationFrame(this.frame);
    if (!on) return;
    let before = performance.now();
    const tick = now => {
      const {start, end, seconds} = this.spec;
      const fraction = ((this.time - start) / (end - start) + (now - before) / 1000 / seconds * this.speed) % 1;
      before = now;
      this.seek(fraction);
      this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  /** Layers with a `currentTime` show the clock's. */
  applied(layer) {
    return this.spec && 'currentTime' in layer.props ? layer.clone({currentTime: this.time}) : layer;
  }
}
