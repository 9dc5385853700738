import { oneOf, textOf } from "../../lib/browser/search.ts";

export interface EditorSearch {
  /** Id of the step that is selected. */
  step?: string | undefined;
  view?: "yaml" | undefined;
}

export interface NewSearch extends EditorSearch {
  /** The pipeline it starts as a copy of. */
  from?: string | undefined;
  /** The run it is made from. */
  run?: string | undefined;
  /** What a missing pipeline or pack is proposed with, as `proposedText` reads it. */
  name?: string | undefined;
  packs?: string | undefined;
  inputs?: string | undefined;
}

export function editorSearch(given: Record<string, unknown>): EditorSearch {
  return { step: textOf(given["step"]), view: oneOf(given["view"], ["yaml"] as const) };
}

export function newSearch(given: Record<string, unknown>): NewSearch {
  return {
    ...editorSearch(given),
    from: textOf(given["from"]),
    run: textOf(given["run"]),
    name: textOf(given["name"]),
    packs: textOf(given["packs"]),
    inputs: textOf(given["inputs"]),
  };
}
