// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { JsonView } from "./JsonView.tsx";

afterEach(cleanup);

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);

test("a value nested 20,000 times is shown to a depth and opened level by level", async () => {
  render(<JsonView value={JSON.parse(DEEP)} source={() => DEEP} />);
  expect(screen.queryByRole("alert")).toBeNull();
  const before = screen.getAllByRole("button", { expanded: true }).length;
  await userEvent.click(screen.getByRole("button", { expanded: false }));
  expect(screen.getAllByRole("button", { expanded: true })).toHaveLength(before + 1);
});

test("what cannot be written as JSON is not said to be copied", async () => {
  const write = vi.fn(() => Promise.resolve());
  vi.stubGlobal("navigator", { clipboard: { writeText: write } });
  render(<JsonView value={JSON.parse(DEEP)} />);
  await userEvent.click(screen.getByRole("button", { name: "Copy value" }));
  expect(await screen.findByText("Not copied")).toBeVisible();
  expect(write).not.toHaveBeenCalled();
});

test("of many parts only some are drawn, and more when they are asked for", async () => {
  const rows = Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => 0)));
  const { container } = render(<JsonView value={rows} />);
  expect(container.querySelectorAll("dt").length).toBeLessThan(5000);
  // Not by role: to work out the roles and names of thousands of buttons takes ten seconds.
  const more = screen.getAllByText("Show the other 10", { selector: "button" });
  const lists = container.querySelectorAll("button[aria-expanded=false]").length;
  await userEvent.click(more.at(-1)!);
  expect(screen.getAllByText("Show the other 10", { selector: "button" })).toHaveLength(more.length - 1 + 10);
  expect(container.querySelectorAll("button[aria-expanded=false]")).toHaveLength(lists + 500);
});

test("numbers that a browser cannot hold say so", () => {
  render(<JsonView value={JSON.parse('{"id": 12345678901234567890, "small": 0.1, "count": 9007199254740991}')} />);
  expect(screen.getByText("about 12345678901234567000")).toBeVisible();
  expect(screen.getByText("0.1")).toBeVisible();
  expect(screen.getByText("9007199254740991")).toBeVisible();
});

test("names of every kind stand beside their values", () => {
  render(
    <JsonView
      value={JSON.parse('{"__proto__": "one", "constructor": "two", "": "three", "a.b": "four", "half": "\\ud83c"}')}
    />,
  );
  for (const text of ["__proto__", "one", "constructor", "two", "no name", "three", "a.b", "four"])
    expect(screen.getByText(text)).toBeVisible();
});
