/** Full screen, for showing: the map and its legend alone, larger; F or the button, Esc to leave. */

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

  /** The whole window at once; the whole screen where the browser lets it. */
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
        if (!this.on) this.leave(); // who changed their mind before the browser had answered
      }, () => {});
      root.focus({preventScroll: true});
    } else this.leave();
  }

  leave() {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
  }

  /** Whether the page keeps its scroll bar, which would stand beside a map that fills the window. */
  setScrolling(yes) {
    document.documentElement.style.overflow = yes ? '' : 'hidden';
  }
}
