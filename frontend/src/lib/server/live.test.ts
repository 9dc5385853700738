import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { type Follow, follow, type LiveState, OPENS_WITHIN_MS, POLL_MS, type Sink, SOCKET_RETRY_MS } from "./live.ts";

interface Message {
  cursor: string;
  end?: boolean;
}

interface Opened {
  way: string;
  after: string | null;
  sink: Sink<Message>;
  closed: boolean;
}

let opened: Opened[];
let states: LiveState[];
let seen: string[];
/** Since the socket was tried: four drops but the first. */
const spent = 8000;

function start(change: Partial<Follow<Message>> = {}): () => void {
  return follow<Message>({
    after: "start",
    open: (way, after, sink) => {
      const one = { way, after, sink, closed: false };
      opened.push(one);
      return () => {
        one.closed = true;
      };
    },
    cursorOf: ({ cursor }) => cursor,
    isEnd: ({ end }) => end === true,
    onMessage: ({ cursor }) => seen.push(cursor),
    onState: (state) => states.push(state),
    poll: async () => true,
    ...change,
  });
}

function last(): Opened {
  const one = opened.at(-1);
  if (one === undefined) throw new Error("nothing was opened");
  return one;
}

async function drop(): Promise<void> {
  last().sink.done(true);
  await vi.advanceTimersByTimeAsync(2500);
}

beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  states = [];
  seen = [];
});
afterEach(() => vi.useRealTimers());

describe("a stream that is followed", () => {
  test("goes on after the last cursor seen when it drops", async () => {
    start();
    expect(last()).toMatchObject({ way: "socket", after: "start" });
    last().sink.next({ cursor: "1" });
    last().sink.next({ cursor: "2" });
    await drop();
    expect(last()).toMatchObject({ way: "socket", after: "2" });
    expect(opened).toHaveLength(2);
    expect(opened[0]?.closed).toBe(true);
    expect(states).toEqual(["connecting", "live", "reconnecting"]);
  });

  test("falls from socket to events to polling after two failures each", async () => {
    const poll = vi.fn(async () => true);
    start({ poll });
    await drop();
    await drop();
    expect(last().way).toBe("stream");
    await drop();
    await drop();
    expect(opened.map(({ way }) => way)).toEqual(["socket", "socket", "stream", "stream"]);
    expect(poll).toHaveBeenCalled();
    expect(states.at(-1)).toBe("polling");
  });

  test("tries the socket again while it polls", async () => {
    start();
    for (let failure = 0; failure < 4; failure += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await drop();
    }
    await vi.advanceTimersByTimeAsync(SOCKET_RETRY_MS + POLL_MS - spent);
    expect(last().way).toBe("socket");
    last().sink.next({ cursor: "9" });
    expect(states.at(-1)).toBe("live");
  });

  test("goes back to polling at once when that fails, and says nothing of it", async () => {
    start();
    for (let failure = 0; failure < 4; failure += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await drop();
    }
    await vi.advanceTimersByTimeAsync(SOCKET_RETRY_MS + POLL_MS - spent);
    const before = states.length;
    await drop();
    expect(states.slice(before).every((state) => state === "polling")).toBe(true);
  });

  test("resets the failure count after a message", async () => {
    start();
    await drop();
    last().sink.next({ cursor: "1" });
    await drop();
    expect(last().way).toBe("socket");
  });

  test("ends with the message that says so, and is not opened again", async () => {
    start();
    last().sink.next({ cursor: "1", end: true });
    expect(last().closed).toBe(true);
    last().sink.done(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened).toHaveLength(1);
  });

  test("says nothing after it was stopped", async () => {
    const stop = start();
    stop();
    last().sink.next({ cursor: "1" });
    last().sink.done(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen).toEqual([]);
    expect(opened).toHaveLength(1);
  });

  test("blames no way while the server cannot be reached at all, and is live as soon as one opens", async () => {
    start({ poll: async () => false });
    for (let failure = 0; failure < 9; failure += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await drop();
      // oxlint-disable-next-line no-await-in-loop
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(states.at(-1)).toBe("reconnecting");
    expect(new Set(opened.map(({ way }) => way))).toEqual(new Set(["socket"]));
    last().sink.opened();
    expect(states.at(-1)).toBe("live");
  });

  test("tries a socket that worked again before it gives it up, as the server may just be back", async () => {
    start();
    last().sink.opened();
    for (let drops = 0; drops < 5; drops += 1) await drop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(opened.map(({ way }) => way)).toEqual([...Array<string>(5).fill("socket"), "stream"]);
  });

  test("gives up a poll that is not answered, and tries the socket again", async () => {
    const never = new Promise<boolean>(() => undefined);
    start({ poll: () => never });
    await drop();
    await drop();
    expect(opened).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(OPENS_WITHIN_MS + 3000);
    expect(opened.map(({ way }) => way)).toEqual(["socket", "socket", "socket"]);
  });

  test("gives up a way that neither opens nor fails", async () => {
    start();
    await vi.advanceTimersByTimeAsync(OPENS_WITHIN_MS + 300);
    expect(opened).toHaveLength(2);
    last().sink.opened();
    await vi.advanceTimersByTimeAsync(10 * OPENS_WITHIN_MS);
    expect(opened).toHaveLength(2);
  });
});
