// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test } from "vitest";

import { PackPage } from "../features/catalog/PackPage.tsx";
import { EditorPage } from "../features/editor/EditorPage.tsx";
import { PipelinePage } from "../features/pipelines/PipelinePage.tsx";
import { RunFormPage } from "../features/pipelines/RunFormPage.tsx";
import { VersionsPage } from "../features/pipelines/VersionsPage.tsx";
import { show, With } from "../testing/show.tsx";

afterEach(cleanup);

const EXTENSIONS = (ref: string, closest: string | null, text: string | null = null) => ({
  notFound: [{ message: "There is none.", ref, hintParts: { text, closest, operation: null } }],
});

const PAGES: [string, string, string, ReactNode][] = [
  ["/pipelines/$pipeline", "/pipelines/slow33", "PipelinePage", <PipelinePage key="page" />],
  ["/pipelines/$pipeline/run", "/pipelines/slow33/run", "PipelinePage", <RunFormPage key="form" />],
  ["/pipelines/$pipeline/edit", "/pipelines/slow33/edit", "EditorPipeline", <EditorPage key="editor" />],
  ["/pipelines/$pipeline/versions", "/pipelines/slow33/versions", "PipelineVersions", <VersionsPage key="versions" />],
];

test.each(PAGES)("%s of a mistyped pipeline links to the nearest", async (path, at, query, page) => {
  await show(
    page,
    {
      [query]: new With({ pipeline: null }, EXTENSIONS("slow33", "slow3")),
      Learned: { myDefaults: { packs: [], pipelines: [] } },
    },
    { path, at },
  );
  expect(await screen.findByText(/There is no pipeline named “slow33”/)).toHaveTextContent("Did you mean slow3?");
  expect(screen.getByRole("link", { name: "slow3" })).toHaveAttribute("href", "/pipelines/slow3");
});

test("a mistyped pack links to the nearest", async () => {
  await show(
    <PackPage />,
    { PackPage: new With({ pack: null }, EXTENSIONS("slow.wiat", "slow.wait")) },
    { path: "/catalog/$pack", at: "/catalog/slow.wiat" },
  );
  expect(await screen.findByRole("link", { name: "slow.wait" })).toHaveAttribute("href", "/catalog/slow.wait");
});

test("where no name is near, none is named, and what else the server advises shows", async () => {
  await show(
    <PackPage />,
    { PackPage: new With({ pack: null }, EXTENSIONS("slow", null, "`slow` is a pipeline.")) },
    { path: "/catalog/$pack", at: "/catalog/slow" },
  );
  expect(await screen.findByText(/There is no pack named “slow”/)).toHaveTextContent("slow is a pipeline.");
  expect(screen.queryByText(/Did you mean/)).toBeNull();
});
