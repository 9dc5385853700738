import { oneOf, textOf } from "../../lib/search.ts";

export const TYPES = ["application/pdf", "image/*", "video/*", "audio/*", "text/*"] as const;

export interface ArtifactsSearch {
  q?: string | undefined;
  type?: (typeof TYPES)[number] | undefined;
  /** The artifact that is looked at. */
  open?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function artifactsSearch(given: Record<string, unknown>): ArtifactsSearch {
  return {
    q: textOf(given["q"]),
    type: oneOf(given["type"], TYPES),
    open: textOf(given["open"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}
