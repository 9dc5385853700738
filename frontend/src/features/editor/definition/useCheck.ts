import { useEffect, useMemo, useState } from "react";
import { useClient } from "urql";

import { EditorCheckDocument, type EditorCheckQuery, type IssuePartsFragment } from "../editor.generated.ts";

export type Issue = IssuePartsFragment;
export type Check = EditorCheckQuery["checkPipeline"];

/** Delay before typed text is sent to the server. */
const PAUSE_MS = 250;

export interface Checked {
  /** The server's check of the latest text sent. */
  check: Check | null;
  /** Whether that is the text that shows. */
  fresh: boolean;
  /** Why it could not be asked. */
  problem: string | null;
}

/** Lets the server check a text once it stops changing. A read-only text may use a key that is taken. */
export function useCheck(text: string, readOnly: boolean): Checked {
  const client = useClient();
  const [known, setKnown] = useState<{ text: string; check: Check | null; problem: string | null } | null>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      void client
        .query(EditorCheckDocument, { yaml: text }, { requestPolicy: "network-only" })
        .toPromise()
        .then(({ data, error }) => {
          if (!current) return;
          setKnown((before) => ({
            text,
            check: data?.checkPipeline ?? before?.check ?? null,
            problem: data === undefined ? (error?.message ?? "The server did not answer.") : null,
          }));
        });
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, text]);
  const check = known?.check ?? null;
  const shown = useMemo(
    () =>
      check === null || !readOnly
        ? check
        : { ...check, issues: check.issues.filter(({ rule }) => rule !== "key_taken") },
    [check, readOnly],
  );
  return { check: shown, fresh: known?.text === text, problem: known?.problem ?? null };
}

/** The issues at a place of the document or below it. */
export function issuesAt(issues: readonly Issue[], path: readonly (string | number)[]): Issue[] {
  return issues.filter((issue) => path.every((part, depth) => issue.path[depth] === String(part)));
}
