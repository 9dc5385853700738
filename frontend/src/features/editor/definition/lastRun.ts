import type { EditorLastRunQuery } from "../editor.generated.ts";
import type { Known } from "./templates.ts";

type LastRun = NonNullable<EditorLastRunQuery["pipeline"]>["runs"]["nodes"][number];

/** The inputs of a run and the outputs of its steps; outputs too long to send are missing. */
export function knownFrom(run: LastRun): Known {
  const outputs = run.steps.flatMap(({ key, output }) =>
    output === null || output.json === null ? [] : [[key, output.json] as const],
  );
  return { inputs: run.inputs, outputs: Object.fromEntries(outputs) };
}
