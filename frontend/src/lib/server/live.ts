// Follows a stream from a cursor: over a websocket, else server-sent events, else by polling.
//
// A dropped stream is resubscribed after the last cursor. After two attempts in a row that did not open, it falls back
// to the next transport, unless the server cannot be reached at all. While polling, it retries the socket from time to
// time.

export type Transport = "socket" | "stream" | "poll";
export type LiveState = "connecting" | "live" | "reconnecting" | "polling";

export interface Sink<T> {
  /** The subscription is open: the server sends everything from now on. */
  opened: () => void;
  next: (message: T) => void;
  /** It ended, by itself or by a failure. */
  done: (failure: boolean) => void;
}

export interface Follow<T> {
  /** Subscribes after a cursor; returns what stops it. */
  open: (way: "socket" | "stream", after: string | null, sink: Sink<T>) => () => void;
  /** The cursor to continue after; null when the message has none. */
  cursorOf: (message: T) => string | null;
  /** Whether nothing comes after this message. */
  isEnd?: (message: T) => boolean;
  onMessage: (message: T) => void;
  onState: (state: LiveState) => void;
  /** Reads everything again; false when the server cannot be reached. */
  poll: () => Promise<boolean>;
  after: string | null;
}

export const FAILURES_BEFORE_FALLBACK = 2;
export const POLL_MS = 3000;
export const SOCKET_RETRY_MS = 20_000;
/** A transport that does not open in this time has failed: some proxies swallow unknown protocols. */
export const OPENS_WITHIN_MS = 10_000;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 3000;

/** Follows until the end or until the returned function is called. */
export function follow<T>(what: Follow<T>): () => void {
  let way: Transport = "socket";
  let failures = 0;
  let pauses = 0;
  let cursor = what.after;
  let stopped = false;
  let close: (() => void) | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socketTried = 0;
  let socketWorked = false;
  // A socket attempt while polling works: on failure, polling continues and the state does not change.
  let trying = false;

  function later(milliseconds: number, action: () => void): void {
    timer = setTimeout(action, milliseconds);
  }

  function begin(): void {
    if (stopped) return;
    if (way === "poll") {
      void ask();
      return;
    }
    if (way === "socket") socketTried = Date.now();
    let heard = false;
    let over = false;
    const impatience = setTimeout(() => done(), OPENS_WITHIN_MS);

    function opened(): void {
      if (heard || stopped || over) return;
      clearTimeout(impatience);
      what.onState("live");
      heard = true;
      trying = false;
      failures = 0;
      if (way === "socket") socketWorked = true;
    }

    function done(): void {
      clearTimeout(impatience);
      if (stopped || over) return;
      over = true;
      close?.();
      if (trying && !heard) {
        way = "poll";
        begin();
        return;
      }
      trying = false;
      what.onState("reconnecting");
      if (!heard) failures += 1;
      void again();
    }

    const stopStream = what.open(way, cursor, {
      opened,
      next(message) {
        if (stopped || over) return;
        opened();
        pauses = 0;
        cursor = what.cursorOf(message) ?? cursor;
        what.onMessage(message);
        if (what.isEnd?.(message) === true) stop();
      },
      done,
    });
    close = () => {
      clearTimeout(impatience);
      stopStream();
    };
    if (over || stopped) close();
  }

  /** Whether the server answers a poll in time: a network that is not up again swallows requests. */
  async function polled(): Promise<boolean> {
    let patience: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<boolean>((resolve) => {
      patience = setTimeout(resolve, OPENS_WITHIN_MS, false);
    });
    const reached = await Promise.race([what.poll(), silence]);
    clearTimeout(patience);
    return reached;
  }

  async function again(): Promise<void> {
    if (failures >= FAILURES_BEFORE_FALLBACK) {
      failures = 0;
      const reached = await polled();
      if (stopped) return;
      // A socket that was open before failed because the server was away, and it may just have come back. Event streams
      // are the last resort: browsers open only six connections to a server, for all tabs together.
      if (reached && !socketWorked) way = way === "socket" ? "stream" : "poll";
      else way = "socket";
      if (reached) socketWorked = false;
    }
    later(Math.min(FIRST_PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS), begin);
    pauses += 1;
  }

  async function ask(): Promise<void> {
    const reached = await polled();
    if (stopped) return;
    what.onState(reached ? "polling" : "reconnecting");
    trying = reached && Date.now() - socketTried >= SOCKET_RETRY_MS;
    if (trying) way = "socket";
    later(way === "socket" ? 0 : POLL_MS, begin);
  }

  function stop(): void {
    stopped = true;
    clearTimeout(timer);
    close?.();
  }

  what.onState("connecting");
  begin();
  return stop;
}
