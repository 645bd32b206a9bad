/** Presenting: the map and its legend alone on the full screen, enlarged; F or the button starts it, Esc ends it. */

export class Present {
  constructor(app) {
    this.app = app;
    this.on = false;
    this.left = () => { if (!document.fullscreenElement && this.on && this.real) this.show(false); };
    document.addEventListener('fullscreenchange', this.left);
  }

  destroy() {
    if (this.on) this.setScrolling(true);
    document.removeEventListener('fullscreenchange', this.left);
  }

  toggle() {
    this.show(!this.on);
    return true;
  }

  /** Fills the window at once, and the screen if the browser allows it. */
  show(on) {
    const {frame, root, controls} = this.app;
    this.on = on;
    this.real = false;
    frame.classList.toggle('presenting', on);
    this.setScrolling(!on);
    controls.refresh();
    if (on) {
      frame.requestFullscreen?.().then(() => {
        this.real = true;
        if (!this.on) this.leave(); // left before the browser had answered
      }, () => {});
      root.focus({preventScroll: true});
    } else this.leave();
  }

  leave() {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
  }

  /** Shows or hides the page's scroll bar: it would stand beside a map that fills the window. */
  setScrolling(yes) {
    document.documentElement.style.overflow = yes ? '' : 'hidden';
  }
}
