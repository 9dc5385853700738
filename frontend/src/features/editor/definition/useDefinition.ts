import { useCallback, useMemo, useReducer, useState } from "react";
import { type Client, type OperationResult, useClient, useQuery } from "urql";

import { type Definition, readDefinition } from "./definition.ts";
import {
  EditorLastRunDocument,
  EditorPackNamesDocument,
  type EditorPackNamesQuery,
  EditorPacksDocument,
} from "../editor.generated.ts";
import { once } from "../../../lib/server/once.ts";
import { type History, initialHistory, historyReducer } from "./history.ts";
import { knownFrom } from "./lastRun.ts";
import { type Suggestion, suggestionsFor } from "./suggestions.ts";
import type { Pack } from "../form/StepForm.tsx";
import type { PackName } from "../yaml/completions.ts";

/** Examples are short, so longer outputs are not loaded. */
const LONGEST_EXAMPLE = 65_536;

export interface Edited {
  history: History;
  definition: Definition;
  /** The latest that could be read; the same as `definition` unless that cannot. */
  readable: Definition;
  /** `at` names the changed field, so that typing in one field is one undo step. */
  change: (text: string, at?: string | null) => void;
  undo: () => void;
  redo: () => void;
}

/** The text under edit, read. */
export function useDefinition(startText: string): Edited {
  const [history, dispatch] = useReducer(historyReducer, startText, initialHistory);
  const definition = useMemo(() => readDefinition(history.text), [history.text]);
  const [readable, setReadable] = useState(definition);
  if (definition.unreadable === null && readable !== definition) setReadable(definition);
  const change = useCallback((text: string, at: string | null = null) => dispatch({ kind: "change", text, at }), []);
  const undo = useCallback(() => dispatch({ kind: "undo" }), []);
  const redo = useCallback(() => dispatch({ kind: "redo" }), []);
  return { history, definition, readable, change, undo, redo };
}

/** The packs of the steps, by name; unknown ones are missing. */
export function usePacks(definition: Definition): ReadonlyMap<string, Pack> {
  const names = [...new Set(definition.steps.map(({ pack }) => pack))].filter((name) => name !== "").sort();
  const [{ data }] = useQuery({ query: EditorPacksDocument, variables: { names }, pause: names.length === 0 });
  return useMemo(
    () =>
      new Map(
        (data?.nodes ?? []).flatMap((node) =>
          node !== null && "inputSchema" in node ? [[node.name, node] as const] : [],
        ),
      ),
    [data],
  );
}

/** Values a step may use, with examples from the last run. */
export function useSuggestions(
  definition: Definition,
  packs: ReadonlyMap<string, Pack>,
  inputSchema: unknown,
  pipelineId: string | null,
): (index: number) => readonly Suggestion[] {
  const [{ data }] = useQuery({
    query: EditorLastRunDocument,
    variables: { id: pipelineId ?? "", limitBytes: LONGEST_EXAMPLE },
    pause: pipelineId === null,
  });
  const last = data?.pipeline?.runs.nodes[0];
  const known = useMemo(() => (last === undefined ? { inputs: {}, outputs: {} } : knownFrom(last)), [last]);
  const { steps, value } = definition;
  const schema = value["inputs"] ?? inputSchema;
  return useMemo(() => {
    const outputs = new Map([...packs].map(([name, pack]) => [name, pack.outputSchema]));
    return (index: number) => suggestionsFor(index, steps, schema, outputs, known);
  }, [steps, packs, schema, known]);
}

/** Loads the names of all packs, once. */
export function usePackNames(): () => Promise<readonly PackName[]> {
  const client = useClient();
  return useMemo(() => once(() => loadPackNames(client)), [client]);
}

async function loadPackNames(client: Client): Promise<PackName[]> {
  const found: PackName[] = [];
  let after: string | null = null;
  do {
    // Each page begins where the one before it ended.
    // oxlint-disable-next-line no-await-in-loop
    const { data, error }: OperationResult<EditorPackNamesQuery> = await client
      .query(EditorPackNamesDocument, { after })
      .toPromise();
    if (data === undefined) throw error ?? new Error("The server did not answer.");
    found.push(...data.catalog.nodes.filter((node) => "name" in node));
    after = data.catalog.pageInfo.hasNextPage ? data.catalog.pageInfo.endCursor : null;
  } while (after !== null);
  return found;
}
