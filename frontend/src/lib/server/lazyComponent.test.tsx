// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { lazyComponent } from "./lazyComponent.ts";

const SOURCES = import.meta.glob<string>("../../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

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

test("no part of the page is made with React's own lazy, which keeps a failure until a reload", () => {
  const made = Object.entries(SOURCES)
    .filter(([file, text]) => !/\.test\.tsx?$/.test(file) && /\blazy\(/.test(text))
    .map(([file]) => file);
  expect(made).toEqual(["./lazyComponent.ts"]);
});
