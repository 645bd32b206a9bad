/** Controls that step through a series: back, play, forward, a slider, a speed. No step needs a server. */
import {h} from './dom.js';

const PACES = [1, 2, 4, 0.5];

export class Player {
  /**
   * `names` of the steps; `show(at)` shows one; `ends` are the slider's labels; `what` a step is called; `pause` is ms per step at speed 1.
   * The host places the element.
   */
  constructor(names, show, {at = 0, ends = [names[0], names.at(-1)], what = 'Step', pause = 1000, test = 'dpviz-film'} = {}) {
    Object.assign(this, {names, show, at, pause, playing: false});
    const button = (text, name, onclick, testId) => h('button', {type: 'button', 'aria-label': name, title: name, 'data-testid': testId, onclick}, text);
    this.back = button('‹', `Previous ${what.toLowerCase()} (,)`, () => this.step(-1), `${test}-back`);
    this.toggle = button('', '', () => this.play(!this.playing), `${test}-play`);
    this.on = button('›', `Next ${what.toLowerCase()} (.)`, () => this.step(1), `${test}-on`);
    this.pace = button('', '', () => this.setSpeed(PACES[(PACES.indexOf(this.speed) + 1) % PACES.length]), `${test}-speed`);
    this.slider = h('input', {type: 'range', min: 0, max: names.length - 1, step: 1, 'aria-label': what, 'data-testid': test,
      oninput: () => { this.play(false); this.go(Number(this.slider.value)); }});
    this.name = h('output', {'aria-hidden': 'true', 'data-testid': `${test}-name`});
    this.element = h('span', {class: 'series', 'data-control': ''}, this.name,
      h('span', {class: 'steps'}, this.back, this.toggle, this.on, this.pace),
      h('label', {}, h('span', {}, ends[0]), this.slider, h('span', {}, ends[1])));
    this.setSpeed(1);
    this.play(false);
    this.tell();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.pace.textContent = `${speed === 0.5 ? '½' : speed}×`;
    this.pace.setAttribute('aria-label', `Speed: ${speed} times`);
    this.pace.title = this.pace.getAttribute('aria-label');
  }

  tell() {
    this.slider.value = this.at;
    this.slider.setAttribute('aria-valuetext', this.names[this.at]);
    this.name.textContent = this.names[this.at];
  }

  go(at) {
    this.at = at;
    this.tell();
    this.show(at);
    return true;
  }

  /** Steps by hand, from the last to the first; this stops playing. */
  step(by) {
    this.play(false);
    return this.go((this.at + by + this.names.length) % this.names.length);
  }

  play(on) {
    this.playing = on;
    this.toggle.textContent = on ? '❚❚' : '►';
    this.toggle.setAttribute('aria-label', on ? 'Pause (K)' : 'Play (K)');
    this.toggle.title = this.toggle.getAttribute('aria-label');
    clearTimeout(this.timer);
    const next = () => {
      this.go((this.at + 1) % this.names.length);
      this.timer = setTimeout(next, this.pause / this.speed);
    };
    if (on) this.timer = setTimeout(next, this.pause / this.speed);
    return true;
  }
}
