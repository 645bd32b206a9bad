/**
 * Entry point of the page that comes first: the demo's map, drawn flat from what the page carries,
 * until the app's own map stands in its place. What a visitor did meanwhile is the app's then.
 */
import {MapApp} from './app.js';
import {h} from './dom.js';
import {bytesOf, columnsOf} from './packed.js';

const LOOK = 100; // ms between two looks at the app below
const LATEST = 2000; // ms that words below may take once the map is there
const RUNNING = '[data-testid=stApp]:not([data-test-script-state=notRunning])';

class FirstPage {
  constructor(element) {
    this.element = element;
    this.page = element.dataset.page;
    this.place = location.href;
    this.clicked = []; // buttons of the app that were pressed before they were there
    for (const button of element.querySelectorAll('[data-for]')) button.onclick = () => this.clicked.push(button.dataset.for);
    this.watch = setInterval(() => this.look(), LOOK);
  }

  /** The map as the page carries it. */
  async draw() {
    const spec = JSON.parse(document.getElementById('dpviz-first-scene').textContent);
    const columns = columnsOf(spec.columns, await bytesOf('dpviz-first-columns'));
    const shadow = this.element.querySelector('.map').attachShadow({mode: 'open'});
    shadow.append(h('style', {}, document.getElementById('dpviz-first-style').textContent));
    this.key = spec.key;
    this.app = new MapApp(shadow);
    this.app.root.removeAttribute('data-testid'); // of one map on a page
    this.app.takeTheme();
    this.app.showScene(spec, columns);
  }

  /** The app's map of this key is there. */
  met(key, app) {
    if (key !== this.key || this.after === app) return;
    this.after = app;
    this.since = performance.now();
  }

  look() {
    const seen = selector => document.querySelector(`#root ${selector}`);
    this.element.classList.toggle('beside', Boolean(seen('[data-testid=stSidebarNavLink]')));
    const title = seen('[data-testid=stMain] h1')?.textContent;
    const running = seen(RUNNING);
    const ended = title && !running && !this.after;
    this.ended = ended ? this.ended ?? performance.now() : undefined;
    const elsewhere = location.href !== this.place || title && title !== this.page || document.querySelector('[role=dialog]');
    if (elsewhere || performance.now() - this.ended > LATEST) this.leave();
    else if (this.after?.root.dataset.painted && !this.app?.pointer.busy && (!running || performance.now() - this.since > LATEST)) this.leave();
  }

  leave() {
    clearInterval(this.watch);
    if (this.after && this.app) this.after.resume(this.app);
    for (const selector of this.clicked) document.querySelector(selector)?.click();
    this.app?.destroy();
    this.element.remove();
    window.dpvizFirst = undefined;
  }
}

window.dpvizFirst = new FirstPage(document.querySelector('.dpviz-first[data-page]'));
window.dpvizFirst.draw().catch(error => {
  console.warn('dpviz:', error.message);
  window.dpvizFirst?.leave();
});
