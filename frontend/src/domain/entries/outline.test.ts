import { expect, test } from "vitest";

import { outlineOf } from "./outline.ts";

const inputSchema = {
  type: "object",
  properties: { text: { type: "string" }, tries: { type: ["integer", "null"] }, more: {} },
  required: ["text", "more"],
};

test("a proposed pipeline is drafted with its packs in order, and with its inputs", () => {
  const proposed = {
    action: "DRAFT_PIPELINE",
    name: "post",
    packs: ["web.scrape", "blog.write"],
    inputSchema,
  } as const;
  expect(outlineOf(proposed)).toMatchObject({ name: "post", packs: "web.scrape,blog.write" });
  expect(outlineOf(proposed).inputs.split(",").toSorted()).toEqual(["more:", "text:string", "tries?:integer"]);
});

test("a proposed pack is the one step of a new pipeline", () => {
  const proposed = { action: "PROPOSE_PACK", name: "linkedin.publish", packs: [], inputSchema: {} } as const;
  expect(outlineOf(proposed)).toEqual({ name: "linkedin.publish", packs: "linkedin.publish", inputs: "" });
});
