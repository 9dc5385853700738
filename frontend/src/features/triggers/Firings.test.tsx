// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { Firings } from "./Firings.tsx";
import type { DeliveredFiringFragment } from "./triggers.generated.ts";

afterEach(cleanup);

const DELIVERY = {
  deliveryId: "d-1",
  event: "push",
  payload: null as string | null,
  isCut: false,
  sizeBytes: 2048,
  keptUntil: "2026-12-05T09:00:00Z",
};
const FIRING = {
  id: "fire_1",
  scheduledAt: null,
  outcome: "FAILED",
  reason: "The payload has no `who`.",
  createdAt: "2026-11-28T09:00:00Z",
  run: null,
  endedRun: null,
} as const;

async function firings(delivery: DeliveredFiringFragment["delivery"], more: { loading?: boolean; may?: boolean } = {}) {
  const [onWanted, onReplayed] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const shown = await show(
    <Firings
      firings={[{ ...FIRING, delivery }]}
      ofWebhook
      payloads={{ loading: more.loading ?? false, onWanted }}
      onReplayed={more.may === false ? null : onReplayed}
    />,
    {
      ReplayFiring: {
        replayFiring: {
          __typename: "UnavailableProblem",
          message: "The delivery cannot be opened.",
          code: "UNAVAILABLE",
          retryable: false,
          hintParts: null,
          missing: [],
        },
      },
    },
  );
  return { ...shown, onWanted, onReplayed };
}

test("a payload is asked for once its delivery is unfolded", async () => {
  const { onWanted } = await firings(DELIVERY, { loading: true });
  expect(onWanted).not.toHaveBeenCalled();
  await userEvent.click(screen.getByText("Delivery of push, 2.0 kB"));
  await waitFor(() => expect(onWanted).toHaveBeenCalled());
  expect(screen.getByText("Loading…")).toBeInTheDocument();
});

test("a payload that is cut says so, and one that cannot be opened says why", async () => {
  await firings({ ...DELIVERY, payload: '{"who": "Mona"', isCut: true });
  expect(screen.getByRole("region", { name: "Payload of d-1", hidden: true })).toHaveTextContent("Mona");
  expect(screen.getByText(/The first part of 2.0 kB/)).toBeInTheDocument();
  cleanup();
  await firings(DELIVERY);
  expect(screen.getByText(/the vault is locked/)).toBeInTheDocument();
});

test("a refused replay shows at its delivery", async () => {
  const { asked, onReplayed } = await firings(DELIVERY);
  await userEvent.click(screen.getByRole("button", { name: "Replay" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("The delivery cannot be opened.");
  expect(asked.at(-1)).toEqual({ name: "ReplayFiring", variables: { id: "fire_1" } });
  expect(onReplayed).toHaveBeenCalled();
});

test("who may not change the trigger, or comes after the delivery is gone, is offered no replay", async () => {
  await firings(DELIVERY, { may: false });
  expect(screen.queryByRole("button", { name: "Replay" })).toBeNull();
  cleanup();
  await firings(null);
  expect(screen.queryByRole("button", { name: "Replay" })).toBeNull();
  expect(screen.queryByText(/Delivery/)).toBeNull();
});
