import { expect, it } from "vitest";

import { completedItems } from "./checklist.ts";

it("crosses off what the server shows to be done", () => {
  const none = {
    byAgent: { nodes: [] },
    mine: { nodes: [] },
    modelRoles: [{ chain: [{ kind: "TEXT", availability: { usable: false } }] }],
  };
  expect(completedItems(none)).toEqual({ agent: false, model: false, pipeline: false });
  const all = {
    byAgent: { nodes: [1] },
    mine: { nodes: [1] },
    modelRoles: [{ chain: [{ kind: "TEXT", availability: { usable: true } }] }],
  };
  expect(completedItems(all)).toEqual({ agent: true, model: true, pipeline: true });
});
