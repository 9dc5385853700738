// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { type ReactNode, useEffect, useState } from "react";
import { afterEach, expect, test, vi } from "vitest";

import { aFailedRun, aFailure } from "../../../testing/runs.ts";
import { show } from "../../../testing/show.tsx";
import type { LogAddress } from "./address.ts";
import { LogView } from "./LogView.tsx";

afterEach(cleanup);

const step = aFailedRun(aFailure()).steps.find(({ key }) => key === "render");
const onAddress = vi.fn<(change: LogAddress) => void>();
let setAddress: (find: string | undefined) => void;
let end: () => void;

function Log(): ReactNode {
  const [find, setFind] = useState<string | undefined>("tea");
  useEffect(() => {
    setAddress = setFind;
  }, []);
  return step === undefined ? null : (
    <LogView step={step} attempt={undefined} address={{ find }} onAddress={onAddress} />
  );
}

test("the search follows an address that changed elsewhere, but keeps what is typed while its own arrives", async () => {
  const lines = [{ number: 1, at: "2026-01-01T00:00:00Z", level: "INFO", text: "tea" }];
  const log = { nodes: lines, totalCount: 1, pageInfo: { endCursor: "1", hasNextPage: false } };
  await show(<Log />, { AttemptLog: { node: { __typename: "StepAttempt", log } } });
  const box = await screen.findByRole("searchbox", { name: "Search the log" });
  expect(box).toHaveValue("tea");
  act(() => setAddress("milk"));
  expect(box).toHaveValue("milk");

  fireEvent.change(box, { target: { value: "milky" } });
  await waitFor(() => expect(onAddress).toHaveBeenLastCalledWith({ find: "milky" }));
  fireEvent.change(box, { target: { value: "milky way" } });
  act(() => setAddress("milky"));
  expect(box).toHaveValue("milky way");
  act(() => setAddress(undefined));
  expect(box).toHaveValue("");
});

test("a log is followed to its end, though its attempt ends while it is read", async () => {
  const [attempt] = step?.attempts ?? [];
  function Growing(): ReactNode {
    const [endedAt, setEndedAt] = useState<string | null>(null);
    useEffect(() => {
      end = () => setEndedAt("2026-01-01T00:00:01Z");
    }, []);
    if (step === undefined || attempt === undefined) return null;
    return (
      <LogView
        step={{ ...step, attempts: [{ ...attempt, endedAt }] }}
        attempt={undefined}
        address={{}}
        onAddress={onAddress}
      />
    );
  }
  const log = { nodes: [], totalCount: 0, pageInfo: { endCursor: null, hasNextPage: false } };
  const { asked } = await show(<Growing />, { AttemptLog: { node: { __typename: "StepAttempt", log } } });
  act(() => end());
  await screen.findByText("No log.");
  await waitFor(() => expect(asked.map(({ name }) => name)).toContain("AttemptOutput"));
});
