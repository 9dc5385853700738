import { expect, test } from "vitest";

import { escaped, plain, plainAnswer } from "./plain.ts";

const TURNED = "invoice\u202Efdp.exe\u2069\u0007";

test("what turns the direction of writing shows as a replacement character; other scripts, emoji and breaks stay", () => {
  expect(plain(TURNED)).toBe("invoice\uFFFDfdp.exe\uFFFD\uFFFD");
  const fine = "فاتورة יוני 👩‍🚀\n\tinvoice";
  expect(plain(fine)).toBe(fine);
});

test("where every character matters the signs are written out", () => {
  expect(escaped(TURNED)).toBe(String.raw`invoice\u202efdp.exe\u2069\u0007`);
});

test("texts of an answer are made plain at any depth; what users gave and what is sent back stay", () => {
  const inputs = { title: TURNED };
  const run = {
    __typename: "Run",
    id: "run_1",
    title: TURNED,
    inputs,
    steps: [{ __typename: "RunStep", warnings: [TURNED, "tea"], yaml: TURNED }],
    failure: null,
  };
  const found = plainAnswer({ run });
  expect(found.run.title).toBe(plain(TURNED));
  expect(found.run.inputs).toBe(inputs);
  expect(found.run.steps[0]).toEqual({ __typename: "RunStep", warnings: [plain(TURNED), "tea"], yaml: TURNED });
});

test("an answer without such signs is handed on as it is", () => {
  const answer = { runs: [{ __typename: "Run", title: "Tea" }] };
  expect(plainAnswer(answer)).toBe(answer);
});
