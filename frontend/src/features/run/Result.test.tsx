// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { ArtifactRows } from "../../domain/files/ArtifactRows.tsx";
import { OFFICE } from "../../domain/files/mediaTypes.ts";
import { AT, aStep } from "../../testing/runs.ts";
import { show } from "../../testing/show.tsx";
import { Result } from "./Result.tsx";

afterEach(cleanup);

const TYPE = `${OFFICE}.presentationml.presentation`;
const KEPT = { createdAt: AT, expiresAt: null, pinned: false, verifiedBy: null };
const DECK = { id: "art_1", name: "deck.pptx", mediaType: TYPE, sizeBytes: 2000, status: "STORED", ...KEPT } as const;
const FILE = { ...DECK, downloadUrl: null, previewUrl: null };

let answer: (known: object) => void;

test("a file of a run is named by its kind, as in the list of files", async () => {
  await show(
    <>
      <Result step={aStep("render", { artifacts: [DECK] })} onMore={() => undefined} />
      <ArtifactRows artifacts={[FILE]} />
    </>,
    { StepArtifacts: { node: { __typename: "RunStep", id: "step_render", artifacts: [FILE] } } },
  );
  expect(await screen.findAllByText(/^PowerPoint · /)).toHaveLength(2);
  expect(screen.getAllByTitle(TYPE)).toHaveLength(2);
  expect(screen.queryByText(/officedocument/)).toBeNull();
});

test.each([
  ["/preview/1", true],
  [null, false],
])("the space for pages is kept until the preview is known to be %s", async (previewUrl, paged) => {
  const pdf = { ...DECK, name: "deck.pdf", mediaType: "application/pdf" };
  const StepArtifacts = new Promise((resolve) => (answer = resolve));
  const { container } = await show(<Result step={aStep("render", { artifacts: [pdf] })} onMore={() => undefined} />, {
    StepArtifacts,
  });
  const spaces = () => container.querySelectorAll("section > .h-14, section > .w-74").length;
  expect(spaces()).toBe(2);
  answer({ node: { __typename: "RunStep", id: "step_render", artifacts: [{ ...FILE, ...pdf, previewUrl }] } });
  await waitFor(() => expect(container.querySelectorAll("img").length > 0 || spaces() === 0).toBe(true));
  expect(spaces()).toBe(paged ? 2 : 0);
});
