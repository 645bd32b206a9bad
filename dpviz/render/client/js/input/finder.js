/** Search field for places or areas of a map by name. */
import {h} from '../core/dom.js';

const UNMARKED = {ø: 'o', ł: 'l', đ: 'd', ð: 'd', ı: 'i', ß: 'ss'};

/** Key that all spellings of a name share, with or without accents or German ae, oe, ue; as `folded` in `basemap.py`. */
const plain = text => text.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '').replace(/[øłđðıß]/g, letter => UNMARKED[letter])
  .replace(/([aou])e/g, '$1').trim();

export class Finder {
  /** `names` to search; `noun` says what they are; `choose(at)` shows one, `choose(null)` clears. */
  constructor({names, noun}, choose) {
    Object.assign(this, {names, noun, choose, texts: names.map(plain)});
    const list = h('datalist', {id: 'dpviz-names'}, ...names.map(value => h('option', {value})));
    this.input = h('input', {type: 'search', list: 'dpviz-names', autocomplete: 'off', 'aria-label': `Find ${noun}`, placeholder: `Find ${noun}`, 'aria-describedby': 'dpviz-missing', 'data-testid': 'dpviz-find',
      oninput: () => { if (!this.input.value || this.texts.includes(plain(this.input.value))) this.find(); },
      onchange: () => this.find()});
    this.missing = h('span', {id: 'dpviz-missing', class: 'soft', role: 'status'});
    this.element = h('span', {class: 'finder'}, this.input, list, this.missing);
  }

  /** Choose the name that equals the text, else the first that begins with it, else the first that contains it. */
  find() {
    const {value} = this.input, text = plain(value);
    if (value === this.text) return;
    this.text = value;
    const tests = [(_, row) => this.names[row].toLowerCase() === value.trim().toLowerCase(), each => each === text, each => each.startsWith(text), each => each.includes(text)];
    const at = text ? tests.map(test => this.texts.findIndex(test)).find(row => row >= 0) ?? -1 : null;
    this.missing.textContent = at === -1 ? `“${value}” is not in the list` : '';
    if (at === -1) return;
    if (at !== null) this.text = this.input.value = this.names[at];
    this.choose(at);
  }

  /** Empty the field without telling the host. */
  clear() {
    this.input.value = this.text = this.missing.textContent = '';
  }
}
