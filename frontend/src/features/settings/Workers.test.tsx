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
    draining: false,
  };
}

test("A worker that is not seen looks different from one that is alive", async () => {
  await show(<Workers workers={[worker("web-1:1:aa"), worker("web-2:2:bb", false)]} server={IDLE} queue={[]} />);
  const [alive, lost] = await screen.findAllByRole("listitem");
  expect(alive).toHaveTextContent("web-1:1:aa3 of 64 runs · release 0.1.0 · started");
  expect(alive).not.toHaveTextContent("not seen");
  expect(lost).toHaveTextContent("web-2:2:bbnot seen since");
  expect(screen.getByText(/1 worker alive · no run queued/)).toBeVisible();
});

test("The queue is shown with the age of its oldest run", async () => {
  await show(
    <Workers workers={[worker("web-1:1:aa")]} server={{ queuedRuns: 12, oldestQueuedAt: LONG_AGO }} queue={[]} />,
  );
  expect(await screen.findByText(/12 runs queued, the oldest/)).toHaveTextContent(/the oldest May 1, 2020$/);
});

test("Draining shows how far it is, and can be ended", async () => {
  const drained = { ...worker("web-1:1:aa"), draining: true, running: 0 };
  await show(<Workers workers={[drained, { ...drained, name: "web-2:2:bb", running: 1 }]} server={IDLE} queue={[]} />);
  const [empty, busy] = await screen.findAllByRole("listitem");
  expect(empty).toHaveTextContent("web-1:1:aadrained0 of 64 runs");
  expect(busy).toHaveTextContent("web-2:2:bbdraining1 of 64 runs");
  expect(screen.getByRole("button", { name: "Let web-1:1:aa take runs" })).toBeVisible();
});

test("What no worker serves is named", async () => {
  const waiting = { needs: ["chromium", "gpu"], runs: 2, workers: [], missing: ["gpu"] };
  await show(<Workers workers={[worker("web-1:1:aa")]} server={IDLE} queue={[waiting]} />);
  expect(await screen.findByText("No worker serves gpu · 2 runs waiting")).toBeVisible();
  expect(screen.getByRole("button", { name: "Drain web-1:1:aa" })).toBeVisible();
});
