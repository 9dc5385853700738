import { expect, test } from "vitest";

import { readEvents } from "./sse.ts";

function answer(...parts: string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("events come through whole, however the network cuts them", async () => {
  const seen: unknown[] = [];
  await readEvents(
    answer(":\n\nevent: ne", 'xt\ndata: {"a"', ":1}\n\nevent: next\ndata: 2\n\nevent: complete\ndata:\n\n"),
    () => {},
    (value) => seen.push(value),
  );
  expect(seen).toEqual([{ a: 1 }, 2]);
});

test("a stream that ends without its last message was interrupted", async () => {
  await expect(
    readEvents(
      answer("event: next\ndata: 1\n\n"),
      () => {},
      () => undefined,
    ),
  ).rejects.toThrow("interrupted");
});

test("a refusal is no stream", async () => {
  await expect(
    readEvents(
      new Response("no", { status: 401 }),
      () => {},
      () => undefined,
    ),
  ).rejects.toThrow("401");
});
