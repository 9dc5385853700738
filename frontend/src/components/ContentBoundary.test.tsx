// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { act, cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { type ReactNode, Suspense } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { lazyComponent, retryFailedParts } from "../lib/server/lazyComponent.ts";
import { ContentBoundary } from "./ContentBoundary.tsx";

let logged: unknown[][] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...said: unknown[]) => void logged.push(said));
});
afterEach(cleanup);

let broken: unknown = null;
function Fragile({ text }: { text: string }): ReactNode {
  if (broken !== null) throw broken;
  return text;
}

function Around({ text, source }: { text: string; source?: () => string | null }): ReactNode {
  return (
    <>
      <h1>The page</h1>
      <ContentBoundary what="notes.md" of={[text]} source={source}>
        <Fragile text={text} />
      </ContentBoundary>
    </>
  );
}

test("a fault stays where it arose, says what cannot be shown, is logged once and tried again", async () => {
  broken = new RangeError("Maximum call stack size exceeded");
  render(<Around text="tea" source={() => "# tea"} />);
  expect(screen.getByRole("heading", { name: "The page" })).toBeVisible();
  expect(screen.getByRole("alert")).toHaveTextContent("notes.md cannot be shown.");
  expect(screen.getByText("RangeError: Maximum call stack size exceeded")).toBeInTheDocument();
  expect(logged).toHaveLength(1);

  await userEvent.click(screen.getByRole("button", { name: "Show as text" }));
  expect(screen.getByRole("region", { name: "notes.md, as text" })).toHaveTextContent("# tea");
  broken = null;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(screen.getByText("tea")).toBeVisible();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("other content is tried again without a click", () => {
  broken = new Error("no");
  const { rerender } = render(<Around text="tea" />);
  expect(screen.getByRole("alert")).toBeVisible();
  rerender(<Around text="tea" />);
  expect(screen.getByRole("alert")).toBeVisible();
  broken = null;
  rerender(<Around text="milk" />);
  expect(screen.getByText("milk")).toBeVisible();
});

test.each([
  ["text", "a word"],
  ["nothing", undefined],
  ["an object without words", Object.create(null)],
])("anything thrown is shown, such as %s", (_, thrown) => {
  broken = thrown === undefined ? {} : thrown;
  render(
    <Around
      text="tea"
      source={() => {
        throw new RangeError("the source fails as well");
      }}
    />,
  );
  expect(screen.getByRole("alert")).toHaveTextContent("notes.md cannot be shown.");
  expect(screen.queryByRole("button", { name: "Show as text" })).toBeNull();
});

function Tea(): ReactNode {
  return <p>Tea</p>;
}

test("a part of the page that failed to load is loaded again when failed parts are retried", async () => {
  broken = null;
  let has = false;
  const load = vi.fn(() => (has ? Promise.resolve({ Tea }) : Promise.reject(new TypeError("Failed to fetch"))));
  const Part = lazyComponent(load, "Tea");
  render(
    <ContentBoundary what="notes.md">
      <Suspense>
        <Part />
      </Suspense>
    </ContentBoundary>,
  );
  expect(await screen.findByRole("alert")).toHaveTextContent("notes.md cannot be shown.");
  expect(load).toHaveBeenCalledTimes(1);
  has = true;
  act(retryFailedParts);
  expect(await screen.findByText("Tea")).toBeVisible();
  expect(load).toHaveBeenCalledTimes(2);
});
