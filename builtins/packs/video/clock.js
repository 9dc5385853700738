// Replaces every clock and source of chance of a page by one that only the renderer moves, before the page's first
// script runs. `__packlineClock.advance(ms)` moves it and runs what became due, in order; it answers how many
// callbacks ran.
(() => {
  "use strict";
  const EPOCH = Date.UTC(2026, 0, 1);
  const MAX_CALLBACKS = 5000; // in one step of time; more is a loop
  let now = 0;
  let lastId = 0;
  let timers = new Map();
  let frames = new Map();
  const channel = new MessageChannel();
  const waiting = [];
  channel.port1.onmessage = () => waiting.shift()();
  const breathe = () => new Promise((resolve) => { waiting.push(resolve); channel.port2.postMessage(0); });

  const RealDate = Date;
  class PacklineDate extends RealDate {
    constructor(...given) { if (given.length) super(...given); else super(EPOCH + now); }
    static now() { return EPOCH + now; }
  }
  const FakeDate = new Proxy(PacklineDate, { apply: () => new PacklineDate().toString() });
  Object.defineProperty(PacklineDate.prototype, "constructor", { value: FakeDate, writable: true, configurable: true });
  window.Date = FakeDate;
  Performance.prototype.now = () => now;
  Object.defineProperty(Performance.prototype, "timeOrigin", { get: () => EPOCH });
  Object.defineProperty(Event.prototype, "timeStamp", { get: () => now });

  let seed = 0x9e3779b9;
  const random = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = random;
  if (window.Crypto) {
    Crypto.prototype.getRandomValues = function (array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = random() * 256;
      return array;
    };
    Crypto.prototype.randomUUID = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) =>
      (+c ^ ((random() * 16) >> (+c / 4))).toString(16));
  }

  // What the page asked for in vain, and what went wrong in it: kept here, since the page may drop listeners of its own.
  const refused = new Set(), failed = new Set();
  addEventListener("securitypolicyviolation", (event) => {
    if (refused.size < 50 && event.blockedURI) refused.add(event.blockedURI.slice(0, 500));
  }, true);
  addEventListener("error", (event) => {
    if (failed.size < 20 && event.message) failed.add(event.message.slice(0, 300));
  }, true);

  const add = (callback, delay, rest, every) => {
    const wait = Math.max(Number(delay) || 0, every === null ? 0 : 4);
    timers.set(++lastId, { at: now + wait, every: every === null ? null : wait, callback, rest, id: lastId });
    return lastId;
  };
  const run = (callback, given) => {
    try {
      if (typeof callback === "function") callback.apply(window, given);
      else (0, eval)(String(callback));
    } catch (error) { failed.add(String(error).slice(0, 300)); }
  };
  window.setTimeout = (callback, delay, ...rest) => add(callback, delay, rest, null);
  window.setInterval = (callback, delay, ...rest) => add(callback, delay, rest, true);
  window.clearTimeout = window.clearInterval = (id) => { timers.delete(Number(id)); };
  window.requestAnimationFrame = (callback) => { frames.set(++lastId, callback); return lastId; };
  window.cancelAnimationFrame = (id) => { frames.delete(id); };
  window.requestIdleCallback = (callback) =>
    add(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1, [], null);
  window.cancelIdleCallback = window.clearTimeout;
  delete window.RTCPeerConnection;
  delete window.webkitRTCPeerConnection;

  const next = (until) => {
    let found = null;
    for (const timer of timers.values()) {
      if (timer.at <= until && (found === null || timer.at < found.at || (timer.at === found.at && timer.id < found.id))) {
        found = timer;
      }
    }
    return found;
  };
  const advance = async (ms) => {
    let count = 0;
    for (let timer = next(ms); timer !== null; timer = next(ms)) {
      if (++count > MAX_CALLBACKS) throw new Error("packline: timers without end");
      now = Math.max(now, timer.at);
      if (timer.every === null) timers.delete(timer.id);
      else timer.at += timer.every;
      run(timer.callback, timer.rest);
      await breathe();
    }
    now = ms;
    const due = frames;
    frames = new Map();
    for (const callback of due.values()) { count += 1; run(callback, [now]); }
    if (count) await breathe();
    return count;
  };
  const report = () => ({ refused: [...refused], failed: [...failed] });
  Object.defineProperty(window, "__packlineClock", { value: Object.freeze({ advance, now: () => now, report }) });
})();
