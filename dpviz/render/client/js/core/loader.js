/**
 * Loads deck.gl once per page: the bundle of the pydeck wheel sets window.deck and
 * window.luma. The page's head may already have requested it.
 */

const globals = () => ({deck: window.deck, luma: window.luma});

function loaded(script) {
  return new Promise((resolve, reject) => {
    script.addEventListener('load', () => resolve(globals()));
    script.addEventListener('error', () => reject(new Error(`the map's drawing library did not load from ${script.src}: reload the page`)));
  });
}

function fetched(url) {
  const script = document.createElement('script');
  script.src = url;
  document.head.append(script);
  return loaded(script);
}

/** {deck, luma}. */
export function loadDeck(url) {
  if (window.deck) return Promise.resolve(globals());
  const early = document.querySelector('script[data-dpviz-deck]');
  window.__dpvizDeck ??= (early ? loaded(early).catch(() => fetched(url)) : fetched(url)).catch(error => {
    window.__dpvizDeck = undefined; // the next run may try again
    throw error;
  });
  return window.__dpvizDeck;
}
