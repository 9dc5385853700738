// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { lazyComponent } from "./lazyComponent.ts";

afterEach(cleanup);

function Tea() {
  return <p>Tea</p>;
}

test("a part that was preloaded is shown at once", async () => {
  const Part = lazyComponent(() => Promise.resolve({ Tea }), "Tea");
  await Part.preload();
  render(<Part />);
  expect(screen.getByText("Tea")).toBeVisible();
});
