// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { AskBox } from "./AskBox.tsx";

afterEach(cleanup);

const LIMIT = "Requests are limited to 20,000 characters. The rest is not sent.";
const ANSWERS = {
  AskRouter: { modelRoles: [] },
  AskRoute: { route: { recommendation: { id: null }, alternatives: [], gapWarnings: [] } },
};

test("a request of the most characters is sent whole, and one more is kept in the box but not sent", async () => {
  const { asked } = await show(<AskBox />, ANSWERS);
  const box = screen.getByRole("searchbox", { name: "Ask what to run" });
  const longest = "a".repeat(20_000);
  fireEvent.change(box, { target: { value: longest } });
  expect(screen.queryByText(LIMIT)).not.toBeInTheDocument();
  fireEvent.change(box, { target: { value: `${longest}b` } });
  expect(screen.getByText(LIMIT)).toBeVisible();
  expect(box).toHaveValue(`${longest}b`);
  await waitFor(() => expect(asked.findLast(({ name }) => name === "AskRoute")?.variables["request"]).toBe(longest));
});

test("a character at the limit is sent whole or not at all", async () => {
  const { asked } = await show(<AskBox />, ANSWERS);
  const sent = "a".repeat(19_999);
  fireEvent.change(screen.getByRole("searchbox", { name: "Ask what to run" }), { target: { value: `${sent}🍵` } });
  await waitFor(() => expect(asked.findLast(({ name }) => name === "AskRoute")?.variables["request"]).toBe(sent));
});
