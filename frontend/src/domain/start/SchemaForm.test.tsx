// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { type ReactNode, useState } from "react";
import { afterEach, expect, test } from "vitest";

import { fieldsOf, valuesOf } from "./schemaForm.ts";
import { SchemaForm } from "./SchemaForm.tsx";

afterEach(cleanup);

const SCHEMA = {
  type: "object",
  required: ["topic"],
  properties: {
    notes: { type: "string", maxLength: 20_000, description: "What to keep to." },
    topic: { type: "string", description: "What it is about." },
    slides: { type: "integer", default: 8 },
    theme: { enum: ["plain", "bold"], default: "plain" },
    cover: { type: "boolean" },
    sources: { type: "array", items: { type: "string" } },
    extra: { type: "object" },
  },
};
const FIELDS = fieldsOf(SCHEMA);

function Held({
  schema = FIELDS,
  problems = {},
  onTexts,
}: {
  schema?: typeof FIELDS;
  problems?: Record<string, string>;
  onTexts?: (texts: Record<string, string>) => void;
}): ReactNode {
  const [texts, setTexts] = useState<Record<string, string>>({});
  return (
    <SchemaForm
      fields={schema}
      texts={texts}
      problems={problems}
      onChange={(name, text) => {
        const next = { ...texts, [name]: text };
        setTexts(next);
        onTexts?.(next);
      }}
    />
  );
}

test("what must be given comes first, and what is left is folded", async () => {
  render(<Held />);
  const first = screen.getAllByRole("textbox")[0];
  expect(first).toHaveAccessibleName("Topic");
  expect(first).toBeRequired();
  expect(first).toHaveAccessibleDescription("What it is about.");
  const more = screen.getByText("More (4)");
  expect(more.closest("details")?.open).toBe(false);
  await userEvent.click(more);
  expect(screen.getByRole("combobox", { name: /^Theme/ })).toBeVisible();
});

test("each sort of value has its control, and what is typed is what is sent", async () => {
  let texts: Record<string, string> = {};
  render(<Held onTexts={(shown) => (texts = shown)} />);
  await userEvent.type(screen.getByRole("textbox", { name: "Topic" }), "Tea");
  await userEvent.type(screen.getByRole("textbox", { name: /^Slides/ }), "12");
  await userEvent.click(screen.getByText("More (4)"));
  await userEvent.selectOptions(screen.getByRole("combobox", { name: /^Theme/ }), "bold");
  await userEvent.selectOptions(screen.getByRole("combobox", { name: /^Cover/ }), "Yes");
  await userEvent.type(screen.getByRole("textbox", { name: /^Sources/ }), "one\ntwo");
  expect(valuesOf(FIELDS, texts)).toEqual({
    topic: "Tea",
    slides: 12,
    theme: "bold",
    cover: true,
    sources: ["one", "two"],
  });
});

test("a default says that it is one", () => {
  render(<Held />);
  expect(screen.getByRole("textbox", { name: /^Slides/ })).toHaveAttribute("placeholder", "Default: 8");
});

test("what is wrong with a field stands at the field, also when it was folded away", () => {
  render(<Held problems={{ extra: "This is no object." }} />);
  const extra = screen.getByRole("textbox", { name: /^Extra/ });
  expect(extra).toBeVisible();
  expect(extra).toBeInvalid();
  expect(screen.getByRole("alert")).toHaveTextContent("This is no object.");
});

test("a pack that takes nothing says so", () => {
  render(<Held schema={[]} />);
  expect(screen.getByText("It has no inputs.")).toBeVisible();
});

test("fields may be called anything, and what is typed into them is what is sent", async () => {
  const names = ["constructor", "__proto__", "toString", "", "a.b", "hasOwnProperty"];
  const fields = fieldsOf({
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  });
  let texts: Record<string, string> = {};
  render(<Held schema={fields} onTexts={(shown) => (texts = shown)} />);
  const boxes = screen.getAllByRole("textbox");
  expect(boxes.map((box) => (box as HTMLInputElement).value)).toEqual(names.map(() => ""));
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getByRole("textbox", { name: "No name" })).toBeVisible();
  for (const box of boxes) await userEvent.type(box, "tea");
  expect(Object.entries(valuesOf(fields, texts))).toEqual(fields.map(({ name }) => [name, "tea"]));
});

test("thousands of fields come a hundred at a time, and one with a problem always shows", async () => {
  const names = Array.from({ length: 5000 }, (_, at) => `field_${at}`);
  const fields = fieldsOf({
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  });
  render(<Held schema={fields} problems={{ field_4321: "Required." }} />);
  expect(screen.getAllByRole("textbox")).toHaveLength(101);
  expect(screen.getByRole("textbox", { name: "Field 4321" })).toBeInvalid();
  await userEvent.click(screen.getByRole("button", { name: "Show 100 more of 4,900" }));
  expect(screen.getAllByRole("textbox")).toHaveLength(201);
});

test("text in backticks is set as code, in what describes a field and in what is wrong with it", () => {
  const schema = fieldsOf({ properties: { theme: { type: "string", description: "Such as `plain`." } } });
  render(<Held schema={schema} problems={{ theme: "There is no theme `tea`." }} />);
  expect(screen.getByText("plain").tagName).toBe("CODE");
  expect(screen.getByText("tea").tagName).toBe("CODE");
  expect(screen.queryByText(/`/)).toBeNull();
});
