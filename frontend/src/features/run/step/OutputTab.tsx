import { type ReactNode, useState } from "react";
import { useClient, useQuery } from "urql";

import { PayloadView } from "../../../components/JsonView.tsx";
import { Notice } from "../../../components/Notice.tsx";
import { type Problem, problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { bytes } from "../../../lib/text/format.ts";
import { saveText } from "../../../lib/browser/saveText.ts";
import { StepDetailDocument, type StepRowFragment, WholeOutputDocument } from "../run.generated.ts";
import { useRefetchContext } from "./useRefetchContext.ts";

/** The server sends no longer value; `WholeOutput` asks for as much. */
const LONGEST_BYTES = 1_048_576;

/** The output of a step: a tree of at most 64 kB, and all of it as a file. */
export function OutputTab({ runId, step }: { runId: string; step: StepRowFragment }): ReactNode {
  // Read again whenever the step progresses, since the output may be new.
  const [{ data, fetching, error, stale }] = useQuery({
    query: StepDetailDocument,
    variables: { id: runId, key: step.key },
    context: useRefetchContext(step),
  });
  const client = useClient();
  const [problem, setProblem] = useState<Problem | null>(null);
  const found = data?.run?.step;
  // Of what is known before the answer, the output may be missing.
  if (found === undefined || found === null || (stale && found.output === null))
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;

  async function keep(): Promise<void> {
    const answer = await client
      .query(WholeOutputDocument, { id: runId, key: step.key }, { requestPolicy: "network-only" })
      .toPromise();
    const whole = answer.data?.run?.step?.whole;
    if (answer.error !== undefined) setProblem(problemOfError(answer.error));
    else if (whole === undefined || whole === null || whole.text !== null)
      setProblem({ message: "The output cannot be read in full.", hint: null, details: [], fields: {} });
    else saveText(`${step.key}-output.json`, `${JSON.stringify(whole.json, null, 2)}\n`, "application/json");
  }

  return (
    <>
      <PayloadView
        payload={found.output}
        empty={step.state === "FAILED" ? "It failed before producing output." : "No output yet."}
      />
      {found.output === null ? null : found.output.sizeBytes > LONGEST_BYTES ? (
        <p className="mt-3 max-w-reading text-dense text-soft">
          It is longer than the {bytes(LONGEST_BYTES)} that can be read at once. A pack with output this long should
          make a file.
        </p>
      ) : (
        <p className="mt-3 text-dense">
          <button type="button" className="link" onClick={() => void keep()}>
            Download as JSON, {bytes(found.output.sizeBytes)}
          </button>
        </p>
      )}
      <Notice problem={problem} />
    </>
  );
}
