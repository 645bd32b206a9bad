/** Brings deck.gl into the page once: the bundle that the pydeck wheel ships sets window.deck and window.luma. */

export function loadDeck(url) {
  window.__dpvizDeck ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve(window.deck);
    script.onerror = () => {
      window.__dpvizDeck = undefined; // the next run may try again
      reject(new Error(`the map's drawing library did not load from ${url}`));
    };
    document.head.append(script);
  });
  return window.__dpvizDeck;
}
