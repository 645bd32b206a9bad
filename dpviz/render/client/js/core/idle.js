/** Work for moments in which the page has nothing else to do. */

const LEAST = 2; // ms that must be left of such a moment
const once = call => setTimeout(() => call({timeRemaining: () => 0}), 20); // Safari cannot say
const moment = window.requestIdleCallback ?? once;

/** Calls `work`, which takes a few milliseconds, again and again until it returns false. */
export function whenIdle(work) {
  moment(deadline => {
    let more = work();
    while (more && deadline.timeRemaining() > LEAST) more = work();
    if (more) whenIdle(work);
  });
}
