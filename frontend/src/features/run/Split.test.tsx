// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { Split } from "./Split.tsx";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

function shown(): HTMLElement {
  render(<Split steps="steps" first={null} inspector="inspector" />);
  return screen.getByRole("separator", { name: "Width of the steps" });
}

test("The keyboard resizes the panes, within limits, and the browser keeps the width", () => {
  const separator = shown();
  expect(separator).toHaveAttribute("aria-valuenow", "50");
  fireEvent.keyDown(separator, { key: "ArrowLeft" });
  expect(separator).toHaveAttribute("aria-valuenow", "48");
  fireEvent.keyDown(separator, { key: "Home" });
  fireEvent.keyDown(separator, { key: "ArrowLeft" });
  expect(separator).toHaveAttribute("aria-valuenow", "30");
  cleanup();
  expect(shown()).toHaveAttribute("aria-valuenow", "30");
});

test("A double click brings the usual width back", () => {
  localStorage.setItem("packline.run.split", "62");
  const separator = shown();
  expect(separator).toHaveAttribute("aria-valuenow", "62");
  fireEvent.doubleClick(separator);
  expect(separator).toHaveAttribute("aria-valuenow", "50");
  expect(localStorage.getItem("packline.run.split")).toBeNull();
});

test("A width that cannot be is not used", () => {
  localStorage.setItem("packline.run.split", "wide");
  expect(shown()).toHaveAttribute("aria-valuenow", "50");
  cleanup();
  localStorage.setItem("packline.run.split", "4000");
  expect(shown()).toHaveAttribute("aria-valuenow", "70");
});
