import { expect, test } from "vitest";

import { first, forward } from "./forward.ts";

const at = (eventCursor: string, state = eventCursor) => ({ eventCursor, state });

test("what is shown goes on with every change, and not back with a late answer", () => {
  let known = first(at("1"));
  for (const run of [at("2"), at("3"), at("2"), at("1")]) known = forward(known, run);
  expect(known.shown.state).toBe("3");
  expect(known.given.state).toBe("1");
  expect(forward(known, at("4")).shown.state).toBe("4");
});

test("the same moment read again counts, since more of it may be known", () => {
  const known = forward(first(at("1", "less")), at("1", "more"));
  expect(known.shown.state).toBe("more");
  expect(known.passed).toEqual([]);
});
