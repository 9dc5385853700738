// @vitest-environment happy-dom
import { beforeAll, beforeEach, expect, test } from "vitest";

import { guardTyped } from "./typed.ts";

beforeAll(guardTyped);
beforeEach(() => {
  document.body.innerHTML = "";
});

function type(html: string, text: string): void {
  document.body.innerHTML = html;
  const field = document.querySelector<HTMLInputElement>("input, textarea")!;
  field.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
  field.value = text;
}

function asks(): boolean {
  const leaving = new Event("beforeunload", { cancelable: true });
  dispatchEvent(leaving);
  return leaving.defaultPrevented;
}

test.each([
  ["a form", "<form><input value='was' /></form>", true],
  ["a dialog", "<dialog><textarea></textarea></dialog>", true],
  ["a search", "<form><input type='search' /></form>", false],
  ["a field that is no form's", "<input />", false],
])("asks before text typed into %s is lost", (_what, html, expected) => {
  type(html, "half a sen");
  expect(asks()).toBe(expected);
});

test("does not ask for a form that is untouched, undone or gone", () => {
  expect(asks()).toBe(false);
  type("<form><input value='was' /></form>", "was");
  expect(asks()).toBe(false);
  type("<form><input /></form>", "half a sen");
  document.body.innerHTML = "";
  expect(asks()).toBe(false);
});
