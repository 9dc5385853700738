import { expect, test } from "vitest";

import { problemOf, problemOfCommand, problemOfError } from "./problem.ts";

const issue = (path: string, message: string, hint: string | null = null) => ({ path: [path], message, hint });
const problem = {
  message: "The token cannot be made: a name is needed.",
  hintParts: { text: "Give one.", closest: null },
};

test("what the message says of the first issue is not said again", () => {
  const refusal = problemOf({ ...problem, issues: [issue("name", "a name is needed.", "Give one.")] });
  expect(refusal.details).toEqual([]);
  expect(refusal.hint).toBe("Give one.");
});

test("every other issue is a line, also one in the same words", () => {
  const issues = [
    issue("name", "a name is needed."),
    issue("label", "a name is needed."),
    issue("days", "Too many.", "At most 90."),
  ];
  expect(problemOf({ ...problem, issues }).details).toEqual(["a name is needed.", "Too many. At most 90."]);
});

test("the errors of an answer are said in their own words", () => {
  const errors = [{ message: "[draft] is no key." }, { message: "Ask for less." }];
  expect(problemOfError({ graphQLErrors: errors }).message).toBe("[draft] is no key.\nAsk for less.");
  expect(problemOfError({ graphQLErrors: [], networkError: new Error("reset") }).message).toBe(
    "The server did not answer.",
  );
});

test("issues of inputs that a form shows go to these inputs", () => {
  const issues = [issue("url", "Not an address."), issue("name", "Required.")];
  const refusal = problemOf({ ...problem, issues }, ["url"]);
  expect(refusal.fields).toEqual({ url: "Not an address." });
  expect(refusal.details).toEqual(["Required."]);
});

test("what is said at a field is not said above the form again", () => {
  const issues = [issue("name", "a name is needed.", "Give one.")];
  const one = problemOf({ ...problem, issues }, ["name"]);
  expect(one).toEqual({
    message: "Change the marked field.",
    hint: null,
    details: [],
    fields: { name: "a name is needed. Give one." },
  });
  const two = problemOf({ ...problem, issues: [...issues, issue("days", "Too many.")] }, ["name", "days"]);
  expect(two.message).toBe("Change the 2 marked fields.");
});

test("only a command that was not answered may have changed something", () => {
  const lost = { graphQLErrors: [], networkError: new Error("reset") };
  expect(problemOfError(lost).hint).toBe("Check that the server is running.");
  expect(problemOfCommand(lost).hint).toContain("may or may not have been made");
});
