import { expect, test } from "vitest";

import { copyAs } from "./copyAs.ts";

const INPUTS = { title: "Don't panic", count: 3, handle: "@ada", parts: ["a"] };
const say = (form: Parameters<typeof copyAs>[0]) => copyAs(form, { pipeline: "sample" }, INPUTS, "http://here:8420");

test("curl sends the request as one quoted word, the token from the environment", () => {
  const text = say("curl");
  expect(text).toContain("curl -sS http://here:8420/graphql");
  expect(text).toContain('"authorization: Bearer $PACKLINE_TOKEN"');
  expect(text).toContain(String.raw`"title":"Don'\''t panic"`);
});

test("the command line gets texts as they are and all else as JSON", () => {
  expect(say("CLI").split(" \\\n")).toEqual(["packline run sample", String.raw`  --input 'title=Don'\''t panic'`, "  --input count:=3", "  --input handle=@@ada", `  --input 'parts:=["a"]'`]);
});

test("agents get the call or a prompt", () => {
  expect(JSON.parse(say("MCP call"))).toMatchObject({ method: "tools/call", params: { name: "run_pipeline", arguments: { pipeline: "sample", inputs: INPUTS } } });
  expect(say("Agent prompt")).toContain('pipeline "sample" with the tool run_pipeline');
  expect(copyAs("MCP call", { pack: "web.scrape" }, {}, "")).toContain('"run_pack"');
});

test("GraphQL comes with its variables", () => {
  expect(say("GraphQL")).toMatch(/^mutation Run\(\$pipeline: ID!, \$inputs: JSON!\)/);
});
