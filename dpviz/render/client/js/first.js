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

const carriedText = name => document.getElementById(`dpviz-first-${name}`).textContent;

class FirstPage {
  /** In a closed shadow: whoever looks for the app's words finds those of the app alone. */
  constructor(template) {
    this.page = template.dataset.page;
    this.place = location.href;
    this.element = h('div', {class: 'dpviz-first', 'data-page': this.page});
    this.shadow = this.element.attachShadow({mode: 'closed'});
    this.shadow.append(h('style', {}, carriedText('page-style')), template.content.cloneNode(true));
    template.after(this.element);
    this.clicked = []; // buttons of the app that were pressed before they were there
    for (const button of this.shadow.querySelectorAll('[data-for]')) button.onclick = () => this.clicked.push(button.dataset.for);
    this.watch = setInterval(() => this.look(), LOOK);
  }

  /** The map as the page carries it. */
  async draw() {
    const spec = JSON.parse(carriedText('scene'));
    const columns = columnsOf(spec.columns, await bytesOf('dpviz-first-columns'));
    const shadow = this.shadow.querySelector('.map').attachShadow({mode: 'open'});
    shadow.append(h('style', {}, carriedText('style')));
    this.key = spec.key;
    this.app = new MapApp(shadow);
    this.app.root.removeAttribute('data-testid'); // of one map on a page
    this.app.setHeight(spec.height);
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

window.dpvizFirst = new FirstPage(document.getElementById('dpviz-first'));
window.dpvizFirst.draw().catch(error => {
  console.warn('dpviz:', error.message);
  window.dpvizFirst?.leave();
});
