import { expect, test } from "vitest";

import { copyAs } from "./copyAs.ts";

const INPUTS = { title: "Don't panic", count: 3, handle: "@ada", parts: ["a"] };
const say = (form: Parameters<typeof copyAs>[0]) =>
  copyAs(form, { pipeline: "sample" }, { inputs: INPUTS, fromMemory: [] }, "http://here:8420");

test("curl sends the request as one quoted word, the token from the environment", () => {
  const text = say("curl");
  expect(text).toContain("curl -sS http://here:8420/graphql");
  expect(text).toContain('"authorization: Bearer $PACKLINE_TOKEN"');
  expect(text).toContain(String.raw`"title":"Don'\''t panic"`);
});

test("the command line gets texts as they are and all else as JSON", () => {
  expect(say("CLI").split(" \\\n")).toEqual([
    "packline run sample",
    String.raw`  --input 'title=Don'\''t panic'`,
    "  --input count:=3",
    "  --input handle=@@ada",
    `  --input 'parts:=["a"]'`,
  ]);
});

test("agents get the call or a prompt", () => {
  expect(JSON.parse(say("MCP call"))).toMatchObject({
    method: "tools/call",
    params: { name: "run_pipeline", arguments: { pipeline: "sample", inputs: INPUTS } },
  });
  expect(say("Agent prompt")).toContain('pipeline "sample" with the tool run_pipeline');
  expect(copyAs("MCP call", { pack: "web.scrape" }, { inputs: {}, fromMemory: [] }, "")).toContain('"run_pack"');
});

test("GraphQL comes with its variables", () => {
  expect(say("GraphQL")).toMatch(/^mutation Run\(\$pipeline: ID!, \$inputs: JSON!\)/);
});

test("learned values and the chosen agent are part of each format that supports them", () => {
  const given = { inputs: { persona: "executive" }, fromMemory: ["PERSONA"], agent: "careful one" };
  const as = (form: Parameters<typeof copyAs>[0]) => copyAs(form, { pipeline: "styled" }, given, "http://here");
  expect(as("GraphQL")).toContain(
    "mutation Run($pipeline: ID!, $inputs: JSON!, $fromMemory: [LearnedField!], $agent: String)",
  );
  expect(as("curl")).toContain('"fromMemory":["PERSONA"],"agent":"careful one"');
  expect(JSON.parse(as("MCP call"))).toMatchObject({
    params: {
      arguments: {
        pipeline: "styled",
        inputs: { persona: "executive" },
        from_memory: ["PERSONA"],
        agent: "careful one",
      },
    },
  });
  expect(as("CLI").split(" \\\n")).toEqual([
    "packline run styled",
    "  --agent 'careful one'",
    "  --input persona=executive",
    "  --from-memory persona",
  ]);
  expect(as("Agent prompt")).toContain('the profile "careful one": pass it as agent');
  expect(as("Agent prompt")).toContain('memory filled in persona: pass from_memory ["PERSONA"]');
});
