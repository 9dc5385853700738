// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { type ReactNode, useState } from "react";
import { afterEach, expect, test, vi } from "vitest";

import { type Start, StartForm } from "./StartForm.tsx";
import type { Learned } from "./useLearned.ts";

afterEach(cleanup);

const SCHEMA = {
  type: "object",
  properties: { persona: { type: "string" }, theme: { enum: ["dark", "light"] }, text: { type: "string" } },
};

function Held({
  onStart,
  never = () => {},
  given = {},
}: {
  onStart: (start: Start) => void;
  never?: Learned["never"];
  given?: Record<string, string>;
}): ReactNode {
  const [texts, setTexts] = useState(given);
  const learned: Learned = {
    usual: {
      persona: {
        field: "PERSONA",
        value: "executive",
        from: "from your last 6 runs",
        source: "6 of your 6 successful uses.",
      },
      theme: { field: "THEME", value: "dark", from: "pinned by you", source: "You pinned it." },
    },
    never,
    refusal: null,
  };
  return (
    <StartForm
      inputSchema={SCHEMA}
      texts={texts}
      onTexts={setTexts}
      word="Run"
      learned={learned}
      onStart={(start) => {
        onStart(start);
        return Promise.resolve(null);
      }}
    />
  );
}

test("a learned value is marked, described and reported to the server", async () => {
  const started = vi.fn<(start: Start) => void>();
  render(<Held onStart={started} />);
  expect(screen.getByLabelText(/^Persona/)).toHaveValue("executive");
  expect(screen.getByLabelText(/^Persona/)).toHaveAccessibleDescription(/from your last 6 runs/);
  expect(screen.getByLabelText(/^Theme/)).toHaveValue("dark");
  await userEvent.click(screen.getByRole("button", { name: "Run" }));
  expect(started).toHaveBeenCalledWith(
    expect.objectContaining({ values: { persona: "executive", theme: "dark" }, fromMemory: ["PERSONA", "THEME"] }),
  );
});

test("what was edited or cleared is the person's own, and goes along as nothing else", async () => {
  const started = vi.fn<(start: Start) => void>();
  render(<Held onStart={started} />);
  await userEvent.type(screen.getByLabelText(/^Persona/), "s");
  expect(screen.getByLabelText(/^Persona/)).toHaveValue("executives");
  expect(screen.queryByText("from your last 6 runs", { exact: false })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "clear Theme" }));
  expect(screen.getByLabelText(/^Theme/)).toHaveValue("");
  await userEvent.click(screen.getByRole("button", { name: "Run" }));
  expect(started).toHaveBeenCalledWith(expect.objectContaining({ values: { persona: "executives" }, fromMemory: [] }));
});

test("never learning a field clears it", async () => {
  const never = vi.fn<Learned["never"]>();
  render(<Held onStart={() => {}} never={never} />);
  await userEvent.click(screen.getByRole("button", { name: "never learn this: Persona" }));
  expect(never).toHaveBeenCalledWith("PERSONA");
  expect(screen.getByLabelText(/^Persona/)).toHaveValue("");
});

test("a value for an unknown input is reported, not dropped silently", async () => {
  const started = vi.fn<(start: Start) => void>();
  render(<Held onStart={started} given={{ txet: "tea", colour: "red", persona: "", nothing: "" }} />);
  const status = screen.getByRole("status");
  expect(status).toHaveTextContent("There is no input txet; did you mean text? Its value is ignored.");
  expect(status).toHaveTextContent("There is no input colour. Its value is ignored.");
  expect(status).not.toHaveTextContent("nothing");
  await userEvent.click(screen.getByRole("button", { name: "Run" }));
  expect(started).toHaveBeenCalledWith(expect.objectContaining({ values: { theme: "dark" } }));
});
