// Notices that the page did not run for a while: the computer slept, or the browser froze the tab.

const LOOK_MS = 1000;
/** Browsers run the timers of a visible tab on time; a pause this long leaves connections that may be dead. */
export const ASLEEP_MS = 5000;

/**
 * Calls back with the last time the page ran, in milliseconds, once it runs again and can be seen. The timers of a
 * hidden tab pause anyway, so a hidden one is not called back until it is looked at.
 */
export function onWake(woke: (ranAt: number) => void): void {
  let looked = Date.now();
  let slept: number | null = null;
  function look(): void {
    const now = Date.now();
    if (now - looked > ASLEEP_MS) slept = looked;
    looked = now;
    if (slept === null || document.hidden) return;
    const ranAt = slept;
    slept = null;
    woke(ranAt);
  }
  setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", look);
  document.addEventListener("resume", look);
}
