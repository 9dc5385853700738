import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Client, useClient } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../lib/server/problem.ts";
import { Loading } from "../../components/Page.tsx";
import { count } from "../../lib/text/format.ts";
import { type BulkAction, BULK_ACTIONS, dryRun, mapConcurrently, type Planned } from "./bulk.ts";
import {
  BulkAcknowledgeDocument,
  BulkCancelDocument,
  BulkPlanDocument,
  BulkRerunDocument,
  BulkResumeDocument,
} from "./runs.generated.ts";

interface Props {
  act: BulkAction;
  ids: readonly string[];
  onClose: () => void;
  onDone: () => void;
}

interface Result {
  id: string;
  title: string;
  /** Why it was refused; null when it succeeded. */
  refused: Problem | null;
  /** The new run of a re-run. */
  made: string | null;
}

/** Requests under way at a time. */
const AT_ONCE = 4;

/** Previews a bulk action, runs it, and shows the result for each run. */
export function BulkDialog({ act, ids, onClose, onDone }: Props): ReactNode {
  const client = useClient();
  const [runs, setRuns] = useState<readonly Planned[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [results, setResults] = useState<readonly Result[] | null>(null);
  const [busy, setBusy] = useState(false);
  // One key for each run: pressing twice, or again after a lost answer, starts each once.
  const [key] = useState(() => crypto.getRandomValues(new Uint32Array(2)).join("-"));
  const asked = ids.join(" ");
  const open = useRef(true);

  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);

  useEffect(() => {
    // Once it is done nothing is selected any more; there is nothing to ask.
    if (asked === "") return undefined;
    let gone = false;
    void readPlans(client, act, asked.split(" ")).then((found) => {
      if (gone) return;
      if (Array.isArray(found)) setRuns(found);
      else setProblem(found);
    });
    return () => {
      gone = true;
    };
  }, [client, act, asked]);

  const dry = runs === null ? null : dryRun(act, ids.length, runs);
  const titles = new Map(runs?.map(({ id, title }) => [id, title]));

  async function go(): Promise<void> {
    if (dry === null) return;
    setBusy(true);
    const found = await mapConcurrently(dry.ready, AT_ONCE, (id) =>
      done(client, act, id, titles.get(id) ?? id, `${key}-${id}`),
    );
    // If the dialog was closed, the selection may have changed.
    if (!open.current) return;
    setResults(found);
    setBusy(false);
    onDone();
  }

  if (results !== null) return <Results act={act} results={results} onClose={onClose} />;
  return (
    <Dialog title={`${BULK_ACTIONS[act].word} ${count(ids.length, "run")}`} onClose={onClose}>
      {dry === null && problem === null ? <Loading /> : null}
      {dry === null ? null : (
        <>
          <p role="status" className="font-medium">
            {dry.line}
          </p>
          {Object.keys(dry.not).length === 0 ? null : (
            <ul aria-label="Not changed" className="mt-3 max-h-60 space-y-1 overflow-auto text-dense">
              {Object.entries(dry.not).map(([id, why]) => (
                <li key={id} className="wrap-anywhere">
                  {titles.get(id) ?? id}: <span className="text-soft">{why}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <Notice problem={problem} />
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        {dry === null ? null : (
          <Button
            kind={act === "cancel" ? "danger" : "primary"}
            data-autofocus=""
            disabled={busy || dry.ready.length === 0}
            onClick={() => void go()}
          >
            {BULK_ACTIONS[act].word} {count(dry.ready.length, "run")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Results({
  act,
  results,
  onClose,
}: {
  act: BulkAction;
  results: readonly Result[];
  onClose: () => void;
}): ReactNode {
  const well = results.filter(({ refused }) => refused === null).length;
  return (
    <Dialog title={`${BULK_ACTIONS[act].done}: ${well} of ${count(results.length, "run")}`} onClose={onClose}>
      <ul aria-label="Results" className="max-h-80 divide-y divide-line overflow-auto text-dense">
        {results.map(({ id, title, refused, made }) => (
          <li key={id} className="py-1.5 wrap-anywhere">
            <Link to="/runs/$run" params={{ run: made ?? id }} className="link">
              {title}
            </Link>
            <span className={refused === null ? "text-soft" : "text-fail"}>
              {" "}
              · {refused === null ? BULK_ACTIONS[act].done.toLowerCase() : `${refused.message} ${refused.hint ?? ""}`}
            </span>
          </li>
        ))}
      </ul>
      <div className="mt-5 flex justify-end">
        <Button kind="primary" data-autofocus="" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

async function readPlans(client: Client, act: BulkAction, ids: readonly string[]): Promise<Planned[] | Problem> {
  let problem: Problem | null = null;
  const found = await mapConcurrently(ids, AT_ONCE, async (id): Promise<Planned[]> => {
    const variables = { id, runs: { rerunOf: id }, resume: act === "resume", rerun: act === "rerun" };
    const { data, error } = await client
      .query(BulkPlanDocument, variables, { requestPolicy: "network-only" })
      .toPromise();
    if (error !== undefined) problem = problemOfError(error);
    return data?.run === null || data?.run === undefined ? [] : [{ ...data.run, again: data.runs.nodes.length }];
  });
  return problem ?? found.flat();
}

async function done(
  client: Client,
  act: BulkAction,
  id: string,
  title: string,
  idempotencyKey: string,
): Promise<Result> {
  const { result, error } = await sent(client, act, id, idempotencyKey);
  if (error !== undefined) return { id, title, made: null, refused: problemOfCommand(error) };
  if (result != null && "run" in result)
    return { id, title, made: act === "rerun" ? (result.run?.id ?? null) : null, refused: null };
  return { id, title, made: null, refused: problemOf(result ?? {}) };
}

async function sent(client: Client, act: BulkAction, id: string, idempotencyKey: string) {
  switch (act) {
    case "resume": {
      const { data, error } = await client.mutation(BulkResumeDocument, { id }).toPromise();
      return { result: data?.resumeRun, error };
    }
    case "rerun": {
      const { data, error } = await client.mutation(BulkRerunDocument, { id, idempotencyKey }).toPromise();
      return { result: data?.rerunRun, error };
    }
    case "cancel": {
      const { data, error } = await client.mutation(BulkCancelDocument, { id }).toPromise();
      return { result: data?.cancelRun, error };
    }
    case "acknowledge": {
      const { data, error } = await client.mutation(BulkAcknowledgeDocument, { id }).toPromise();
      return { result: data?.acknowledgeRun, error };
    }
    default:
      return act satisfies never;
  }
}
