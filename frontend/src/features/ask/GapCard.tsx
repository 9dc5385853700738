import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useMutation } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { outlineOf } from "../../domain/entries/outline.ts";
import { copy } from "../../lib/browser/clipboard.ts";
import { count } from "../../lib/text/format.ts";
import { SaveGapDocument } from "./ask.generated.ts";
import { fieldWords, type Gap, gapInput, type RouteAnswer, templateOf } from "./routing.ts";

/** What the catalog lacks for a request: a card with its own proposal for each missing capability. */
export function GapCards({
  gaps,
  request,
  answer,
}: {
  gaps: readonly Gap[];
  request: string;
  answer: RouteAnswer;
}): ReactNode {
  if (gaps.length === 0) return null;
  return (
    <section aria-label="What is missing" className="mt-4">
      <h3>
        {gaps.length === 1 ? "Missing here" : `Missing here: ${count(gaps.length, "capability", "capabilities")}`}
      </h3>
      <ul className="mt-1 space-y-2">
        {gaps.map((gap) => (
          <GapCard key={gap.proposal.name} gap={gap} request={request} answer={answer} />
        ))}
      </ul>
    </section>
  );
}

/** A missing capability: its name, why it is missing, and actions on its proposal. */
function GapCard({ gap, request, answer }: { gap: Gap; request: string; answer: RouteAnswer }): ReactNode {
  const id = useId();
  const [, save] = useMutation(SaveGapDocument);
  const [kept, setKept] = useState<{ id: string; issueText: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const [copied, setCopied] = useState<boolean | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { proposal } = gap;
  const template = templateOf(answer);
  const isPipeline = proposal.action === "DRAFT_PIPELINE";

  /** Keeps it, once. */
  async function keep(): Promise<string | null> {
    if (kept !== null) return kept.issueText;
    setBusy(true);
    const answered = await save({ request, gap: gapInput(gap) });
    setBusy(false);
    const { done, refusal } = outcomeOf(answered.error, answered.data?.saveGapProposal, "GapProposalSuccess");
    setProblem(refusal);
    if (done !== null) setKept(done.proposal);
    return done?.proposal.issueText ?? null;
  }

  async function copyIssue(): Promise<void> {
    const text = await keep();
    if (text !== null) setCopied(await copy(text));
  }

  return (
    <li aria-labelledby={id} className="border-l-2 border-warn bg-warn-tint px-4 py-3">
      <h4 id={id} className="font-medium wrap-anywhere first-letter:uppercase">
        {gap.missingCapability}
      </h4>
      <p className="max-w-reading text-dense wrap-anywhere">
        <TextWithCode text={gap.whyMissing} />
      </p>
      <p className="mt-3 flex flex-wrap items-baseline gap-x-2 font-medium">
        {isPipeline ? "Proposed pipeline" : "Proposed pack"}
        <span className="font-mono text-dense wrap-anywhere">{proposal.name}</span>
      </p>
      <p className="max-w-reading text-dense wrap-anywhere">
        <TextWithCode text={proposal.summary} />
      </p>
      <details className="mt-1 text-dense">
        <summary className="w-fit cursor-pointer text-soft">Details</summary>
        <dl className="mt-1 grid grid-cols-[6rem_1fr] gap-x-3 gap-y-1 [&>dt]:text-soft">
          {isPipeline ? (
            <>
              <dt>Steps</dt>
              <dd className="font-mono wrap-anywhere">{proposal.packs.join(" → ")}</dd>
            </>
          ) : null}
          <dt>Accepts</dt>
          <dd className="wrap-anywhere">{fieldWords(proposal.inputSchema).join(", ") || "nothing"}</dd>
          <dt>Returns</dt>
          <dd className="wrap-anywhere">{fieldWords(proposal.outputSchema).join(", ") || "nothing"}</dd>
          <dt>How</dt>
          <dd className="max-w-reading wrap-anywhere">
            <TextWithCode text={proposal.integrationPattern} />
          </dd>
          <dt>What for</dt>
          <dd className="max-w-reading wrap-anywhere">
            <TextWithCode text={proposal.whyUseful} />
          </dd>
        </dl>
      </details>
      <div className="mt-3 flex flex-wrap gap-2">
        {isPipeline ? (
          <ButtonLink to="/pipelines/new" search={outlineOf(proposal)}>
            Draft the pipeline
          </ButtonLink>
        ) : null}
        <Button disabled={busy || kept !== null} onClick={() => void keep()}>
          Save proposal
        </Button>
        <Button disabled={busy} title="Also saves the proposal" onClick={() => void copyIssue()}>
          Copy as issue
        </Button>
        {isPipeline ? null : template === undefined ? (
          <ButtonLink to="/pipelines/new" search={outlineOf(proposal)}>
            Draft a pipeline with it
          </ButtonLink>
        ) : (
          <ButtonLink to="/pipelines/new" search={{ from: template }}>
            Build from template
          </ButtonLink>
        )}
      </div>
      <p role="status" className="mt-2 text-dense">
        {copied === null ? "" : copied ? "Copied. " : "The browser refused to copy. "}
        {kept === null ? null : (
          <>
            Saved among the{" "}
            <Link to="/proposals" className="link">
              proposals
            </Link>
            .
          </>
        )}
      </p>
      <Notice problem={problem} />
    </li>
  );
}
