// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import type { WorkersQuery } from "./settings.generated.ts";
import { Workers } from "./Workers.tsx";

afterEach(cleanup);

const AT = "2026-05-01T12:00:00Z";
const LONG_AGO = "2020-05-01T12:00:00Z";
const IDLE = { queuedRuns: 0, oldestQueuedAt: null };

function worker(name: string, alive = true): WorkersQuery["workers"][number] {
  return {
    name,
    machine: "web-1:/data",
    release: "0.1.0",
    startedAt: AT,
    lastSeenAt: AT,
    alive,
    lanes: 64,
    running: 3,
  };
}

test("A worker that is not seen looks different from one that is alive", async () => {
  await show(<Workers workers={[worker("web-1:1:aa"), worker("web-2:2:bb", false)]} server={IDLE} />);
  const [alive, lost] = await screen.findAllByRole("listitem");
  expect(alive).toHaveTextContent("web-1:1:aa3 of 64 runs · release 0.1.0 · started");
  expect(alive).not.toHaveTextContent("not seen");
  expect(lost).toHaveTextContent("web-2:2:bbnot seen since");
  expect(screen.getByText(/1 worker alive · no run queued/)).toBeVisible();
});

test("The queue is shown with the age of its oldest run", async () => {
  await show(<Workers workers={[worker("web-1:1:aa")]} server={{ queuedRuns: 12, oldestQueuedAt: LONG_AGO }} />);
  expect(await screen.findByText(/12 runs queued, the oldest/)).toHaveTextContent(/the oldest \d+ d ago$/);
});
