import { expect, test } from "vitest";

import { areaOf, byArea } from "./areas.ts";

const PACK = { id: "slides.render", metadata: { practice: false } };
const made = (packName: string) => ({
  id: "builtin.any",
  metadata: { practice: false },
  steps: [
    { __typename: "PackStep", packName: "web.scrape" },
    { __typename: "PackStep", packName },
  ],
});

test("a pack is in the area of its name, a pipeline in that of its last step", () => {
  expect(areaOf(PACK).word).toBe("Slides");
  expect(areaOf(made("blog.publish")).word).toBe("Blog posts");
  expect(areaOf({ ...made("blog.publish"), steps: [{ __typename: "AgentStep" }] }).word).toBe("Agents");
  expect(areaOf({ id: "my_tools.count", metadata: { practice: false } }).word).toBe("My tools");
  expect(areaOf({ id: "alone", metadata: { practice: false } }).word).toBe("Other");
  expect(areaOf({ ...PACK, metadata: { practice: true } }).word).toBe("Practice");
});

test("known areas come in their order, then others, then practice", () => {
  const entries = [{ ...PACK, metadata: { practice: true } }, { ...PACK, id: "mine.x" }, made("video.render"), PACK];
  expect(byArea(entries).map(({ area }) => area.word)).toEqual(["Slides", "Video", "Mine", "Practice"]);
});
