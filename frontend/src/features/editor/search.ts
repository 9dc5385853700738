import { oneOf, textOf } from "../../lib/browser/search.ts";

export interface EditorSearch {
  /** Id of the step that is selected. */
  step?: string | undefined;
  view?: "yaml" | undefined;
}

export interface NewSearch extends EditorSearch {
  /** The pipeline it starts as a copy of. */
  from?: string | undefined;
  /** The run it is proposed from. */
  run?: string | undefined;
  /** The name and the packs, separated by commas, that a missing pipeline is proposed with. */
  name?: string | undefined;
  packs?: string | undefined;
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
  };
}
