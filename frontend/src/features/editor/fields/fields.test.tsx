// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { type ReactNode, useState } from "react";
import { afterEach, describe, expect, test, vi } from "vitest";

import type { Field } from "../../../domain/start/schemaForm.ts";
import { show } from "../../../testing/show.tsx";
import type { Suggestion } from "../definition/suggestions.ts";
import { type Pack, StepForm } from "../form/StepForm.tsx";
import { type At, StepList } from "../form/StepList.tsx";
import type { Issue } from "../definition/useCheck.ts";
import { ValueField, valueOf } from "./ValueField.tsx";

afterEach(cleanup);

const OFFERS: Suggestion[] = [
  {
    text: "${{ steps.fetch.output.text }}",
    path: "steps.fetch.output.text",
    from: "fetch",
    type: "text",
    description: "",
    example: "Hello",
  },
  {
    text: "${{ inputs.url }}",
    path: "inputs.url",
    from: "input",
    type: "text",
    description: "Where from.",
    example: "",
  },
];

function Held({
  kind,
  start,
  issues = [],
  choices = [],
  onValue,
}: {
  kind: Field["kind"];
  start?: unknown;
  issues?: Issue[];
  choices?: unknown[];
  onValue: (value: unknown) => void;
}): ReactNode {
  const [value, setValue] = useState(start);
  const field: Field = {
    name: "f",
    label: "Field",
    kind,
    required: false,
    description: "About it.",
    placeholder: "",
    choices: [],
    standard: "",
  };
  return (
    <ValueField
      field={field}
      choices={choices}
      value={value}
      suggestions={OFFERS}
      issues={issues}
      readOnly={false}
      onChange={(next) => {
        setValue(next);
        onValue(next);
      }}
    />
  );
}

describe("a field of a step", () => {
  test("suggests references while a reference is typed, and takes it by keyboard", async () => {
    const onValue = vi.fn<(value: unknown) => void>();
    render(<Held kind="text" start="See " onValue={onValue} />);
    const box = screen.getByLabelText("Field");
    await userEvent.click(box);
    await userEvent.keyboard("{End}${{{{ in");
    expect(screen.getAllByRole("option").map((option) => option.textContent)).toEqual([
      expect.stringContaining("inputs.url"),
    ]);
    await userEvent.keyboard("{Enter}");
    expect(onValue).toHaveBeenLastCalledWith("See ${{ inputs.url }}");
    expect(screen.queryByRole("listbox")).toBeNull();
  });

  test("shows the last run's value beside a suggestion, and Escape leaves the text alone", async () => {
    const onValue = vi.fn<(value: unknown) => void>();
    render(<Held kind="text" onValue={onValue} />);
    await userEvent.click(screen.getByRole("button", { name: /Use a value/ }));
    expect(screen.getByText("Last time: Hello")).toBeVisible();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(onValue).not.toHaveBeenCalled();
  });

  test("underlines the reference the check speaks of, and says what was meant", () => {
    const issue: Issue = {
      path: ["steps", "0", "input", "f"],
      rule: "unknown_step",
      severity: "ERROR",
      message: "${{ steps.x.output.y }} reads the step `x`, which does not exist.",
      hint: "Did you mean `z`?",
      line: null,
    };
    const { container } = render(
      <Held
        kind="text"
        start="a ${{ inputs.url }} b ${{ steps.x.output.y }}"
        issues={[issue]}
        onValue={vi.fn<(value: unknown) => void>()}
      />,
    );
    expect([...container.querySelectorAll(".decoration-wavy")].map((mark) => mark.textContent)).toEqual([
      "${{ steps.x.output.y }}",
    ]);
    expect(screen.getByLabelText("Field")).toBeInvalid();
    expect(screen.getByLabelText("Field")).toHaveAccessibleDescription(/Did you mean z \?/);
  });

  test("keeps what cannot be read yet to itself", async () => {
    const onValue = vi.fn<(value: unknown) => void>();
    render(<Held kind="json" start={{ a: 1 }} onValue={onValue} />);
    const box = screen.getByLabelText("Field");
    await userEvent.clear(box);
    onValue.mockClear();
    await userEvent.type(box, '[["x"');
    expect(screen.getByText(/This is not JSON/)).toBeVisible();
    expect(onValue).not.toHaveBeenCalled();
    await userEvent.type(box, "]");
    expect(onValue).toHaveBeenLastCalledWith(["x"]);
  });

  test("gives a choice as it stands in the schema, or takes it from elsewhere", async () => {
    const onValue = vi.fn<(value: unknown) => void>();
    render(<Held kind="choice" choices={[1, 2]} onValue={onValue} />);
    await userEvent.selectOptions(screen.getByLabelText("Field"), "2");
    expect(onValue).toHaveBeenLastCalledWith(2);
    await userEvent.selectOptions(screen.getByLabelText("Field"), "Use a value from an input or an earlier step…");
    await userEvent.click(screen.getByRole("button", { name: /Use a value/ }));
    await userEvent.keyboard("{Enter}");
    expect(onValue.mock.lastCall?.[0]).toContain("${{ steps.fetch.output.text }}");
    await userEvent.click(screen.getByRole("button", { name: "Choose a value instead" }));
    expect(onValue).toHaveBeenLastCalledWith(undefined);
  });
});

function read(text: string, kind: Field["kind"]): unknown {
  return valueOf(text, kind).value;
}

test("a typed text becomes the value its kind asks for", () => {
  expect(read("12", "integer")).toBe(12);
  expect(read("${{ inputs.n }}", "integer")).toBe("${{ inputs.n }}");
  expect(valueOf("twelve", "number").wrong).toBe("This is not a number.");
  expect(read("a\n\n b ", "list")).toEqual(["a", "b"]);
  expect(read("${{ inputs.all }}", "list")).toBe("${{ inputs.all }}");
  expect(read('["${{ inputs.one }}"]', "list")).toEqual(["${{ inputs.one }}"]);
  expect(read("true", "yes-no")).toBe(true);
  expect(read("", "json")).toBeUndefined();
});

describe("the list of steps", () => {
  const STEPS = ["one", "two", "three"].map((id) => ({ id, pack: "test.echo", value: {}, plain: true }));

  function list(
    at: At,
    readOnly = false,
  ): { onMove: ReturnType<typeof vi.fn>; onRemove: ReturnType<typeof vi.fn>; onSelect: ReturnType<typeof vi.fn> } {
    const [onMove, onRemove, onSelect] = [
      vi.fn<(from: number, to: number) => void>(),
      vi.fn<(index: number) => void>(),
      vi.fn<(at: At) => void>(),
    ];
    const issue: Issue = {
      path: ["steps", "1", "input"],
      rule: "r",
      severity: "ERROR",
      message: "m",
      hint: null,
      line: null,
    };
    render(
      <StepList
        steps={STEPS}
        at={at}
        issues={[issue]}
        readOnly={readOnly}
        onSelect={onSelect}
        onMove={onMove}
        onDuplicate={vi.fn<(index: number) => void>()}
        onRemove={onRemove}
        onAdd={vi.fn<() => void>()}
      />,
    );
    return { onMove, onRemove, onSelect };
  }

  test("is walked, ordered and thinned out by keyboard", async () => {
    const { onMove, onRemove, onSelect } = list(1);
    screen.getByRole("button", { name: /^2 Two/ }).focus();
    await userEvent.keyboard("{ArrowDown}");
    expect(onSelect).toHaveBeenLastCalledWith(2);
    await userEvent.keyboard("{Alt>}{ArrowUp}{/Alt}");
    expect(onMove).toHaveBeenLastCalledWith(1, 0);
    expect(screen.getByRole("status")).toHaveTextContent("Two is now step 1 of 3.");
    await userEvent.keyboard("{Delete}");
    expect(onRemove).toHaveBeenLastCalledWith(1);
    expect(screen.getByRole("button", { name: /^2 Two.*1 error$/ })).toBeVisible();
  });

  test("changes nothing that may not be changed", async () => {
    const { onMove, onRemove } = list(0, true);
    screen.getByRole("button", { name: /^1 One/ }).focus();
    await userEvent.keyboard("{Alt>}{ArrowDown}{/Alt}{Delete}");
    expect(onMove).not.toHaveBeenCalled();
    expect(onRemove).not.toHaveBeenCalled();
    expect(screen.queryByRole("button", { name: "Add a step" })).toBeNull();
  });
});

test("a field that is typed in stays the same when its pack gets known", async () => {
  const known = {
    id: "test.echo",
    name: "test.echo",
    version: "1.0.0",
    effects: "NONE",
    timeoutSeconds: 60,
    metadata: { typicalUse: null },
    inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
    outputSchema: {},
  } as unknown as Pack;
  function Arriving(): ReactNode {
    const [pack, setPack] = useState<Pack | null>(null);
    return (
      <StepForm
        index={0}
        step={{ id: "say", pack: "test.echo", value: { input: { text: "Hello" } }, plain: true }}
        pack={pack}
        text=""
        issues={[]}
        suggestions={[]}
        readOnly={false}
        onChange={() => setPack(known)}
        onRename={vi.fn<(id: string) => void>()}
        onTest={vi.fn<() => void>()}
        onYaml={vi.fn<() => void>()}
      />
    );
  }
  await show(<Arriving />);
  const box = screen.getByDisplayValue("Hello");
  box.focus();
  await userEvent.keyboard("x");
  expect(await screen.findByText(/changes no external system/)).toBeVisible();
  expect(screen.queryByText("Remove")).toBeNull();
  expect(box).toHaveFocus();
});
