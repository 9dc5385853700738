import type { CombinedError } from "urql";

import { problemOf, problemOfCommand } from "../../lib/server/problem.ts";
import type { Refusal } from "./TriggerForm.tsx";

/** Fields of the form that the server names. */
const OWN = [
  "name",
  "cron",
  "timeZone",
  "intervalSeconds",
  "catchUpLimit",
  "events",
  "secret",
  "states",
  "pipelines",
  "runsOf",
];

interface Refused {
  __typename?: string;
  message?: string;
  issues?: readonly { path: readonly string[]; message: string; hint: string | null }[];
}

/** Why a trigger was not saved, with the problems of its inputs apart: an input may be called `name`, too. */
export function refusalOf(
  error: CombinedError | undefined,
  result: Refused | null | undefined,
  inputNames: readonly string[],
): Refusal {
  if (error !== undefined) return { trigger: problemOfCommand(error), inputs: {} };
  const issues = result?.issues ?? [];
  const ofInputs = issues.filter(({ path }) => path[0] === "inputs");
  const inputs = problemOf({ issues: ofInputs }, inputNames);
  const trigger = problemOf({ ...result, issues: issues.filter((issue) => !ofInputs.includes(issue)) }, OWN);
  return { trigger: { ...trigger, details: [...trigger.details, ...inputs.details] }, inputs: inputs.fields };
}
