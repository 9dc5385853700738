import { numberOf, oneOf, textOf } from "../../lib/browser/search.ts";

export const TYPES = ["application/pdf", "image/*", "video/*", "audio/*", "text/*"] as const;

export interface ArtifactsSearch {
  q?: string | undefined;
  type?: (typeof TYPES)[number] | undefined;
  pipeline?: string | undefined;
  order?: "LARGEST" | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function artifactsSearch(given: Record<string, unknown>): ArtifactsSearch {
  return {
    q: textOf(given["q"]),
    type: oneOf(given["type"], TYPES),
    pipeline: textOf(given["pipeline"]),
    order: oneOf(given["order"], ["LARGEST"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}

export interface ArtifactSearch {
  /** Set to show the source instead of the rendered text. */
  view?: "source" | undefined;
  page?: number | undefined;
}

export function artifactSearch(given: Record<string, unknown>): ArtifactSearch {
  return { view: oneOf(given["view"], ["source"]), page: numberOf(given["page"]) };
}
