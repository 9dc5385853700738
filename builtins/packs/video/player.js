// Shows a composition at one instant: elements with data-start and data-end are visible within them, and animations
// count from the start of the nearest such element. The renderer injects it; a composition carries it as well, and
// then plays by itself when it is opened in a browser.
(() => {
  "use strict";
  if (window.__packlinePlayer) return;
  const started = new WeakMap(); // animation -> seconds at which it began
  const last = new WeakMap(); // animation -> what it showed
  let windows = null;
  let known = -1;
  const number = (text, otherwise) => {
    const value = parseFloat(text);
    return Number.isFinite(value) ? value : otherwise;
  };
  const startOf = (element) => {
    const timed = element && element.closest ? element.closest("[data-start]") : null;
    return timed ? number(timed.dataset.start, 0) : 0;
  };
  const endOf = (element) => {
    const start = number(element.dataset.start, 0);
    if (element.dataset.end !== undefined) return number(element.dataset.end, Infinity);
    if (element.dataset.duration !== undefined) return start + number(element.dataset.duration, Infinity);
    return Infinity;
  };
  const style = document.createElement("style");
  style.textContent = "[data-packline-hidden],[data-packline-hidden] *{visibility:hidden!important}";
  const show = (seconds) => {
    let changed = 0;
    const timed = document.querySelectorAll("body [data-start], body [data-end]");
    for (const element of timed) {
      // A millisecond of grace: 0.1 + 0.2 is not 0.3.
      const start = number(element.dataset.start, 0), end = endOf(element);
      const hidden = seconds < start - 0.0005 || seconds >= end - 0.0005;
      if (hidden !== element.hasAttribute("data-packline-hidden")) {
        element.toggleAttribute("data-packline-hidden", hidden);
        changed += 1;
      }
    }
    if (timed.length !== known) { changed += 1; known = timed.length; }
    return changed;
  };
  const move = (seconds) => {
    let changed = 0;
    const animations = document.getAnimations();
    for (const animation of animations) {
      const target = animation.effect && animation.effect.target;
      if (!started.has(animation)) {
        const isDeclared = window.CSSAnimation && animation instanceof CSSAnimation;
        const own = isDeclared ? startOf(target) : seconds;
        started.set(animation, own);
        animation.pause();
      }
      // Before its element's start an animation stands at its very beginning, not before: it may fill backwards.
      animation.currentTime = Math.max(0, seconds - started.get(animation)) * 1000;
      const timing = animation.effect ? animation.effect.getComputedTiming() : {};
      const shows = `${timing.progress}/${timing.currentIteration}`;
      if (last.get(animation) !== shows) { last.set(animation, shows); changed += 1; }
    }
    if (animations.length !== windows) { windows = animations.length; changed += 1; }
    for (const picture of document.querySelectorAll("svg")) {
      if (picture.querySelector("animate,animateTransform,animateMotion,set")) {
        picture.pauseAnimations();
        picture.setCurrentTime(Math.max(0, seconds - startOf(picture)));
        changed += 1;
      }
    }
    return changed;
  };
  let listens = false;
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (type === "packline:seek") listens = true;
    return listen.call(this, type, ...rest);
  };
  // Shows the instant; answers how many things look different now (0: the picture is the same).
  const seek = (seconds) => {
    if (!style.isConnected) (document.head || document.documentElement).append(style);
    let changed = show(seconds) + move(seconds);
    if (listens) {
      document.dispatchEvent(new CustomEvent("packline:seek", { bubbles: true, detail: { time: seconds } }));
      changed += 1;
    }
    return changed;
  };
  const duration = () => {
    for (const element of [document.documentElement, document.body]) {
      const value = element ? number(element.dataset.duration, NaN) : NaN;
      if (value > 0) return value;
    }
    return null;
  };
  Object.defineProperty(window, "__packlinePlayer", { value: Object.freeze({ seek, duration }) });
  if (window.__packlineClock) return;
  const begin = performance.now();
  const play = () => {
    const length = duration();
    const seconds = (performance.now() - begin) / 1000;
    seek(length ? seconds % (length + 1) : seconds);
    requestAnimationFrame(play);
  };
  document.addEventListener("DOMContentLoaded", play);
})();
