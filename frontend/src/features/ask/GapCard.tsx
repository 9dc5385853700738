import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { copy } from "../../lib/browser/clipboard.ts";
import { SaveGapDocument } from "./ask.generated.ts";
import { fieldWords, type Gap, gapInput, type RouteAnswer, templateOf } from "./routing.ts";

/** A gap in the catalog: the missing pack, and actions on its proposal. */
export function GapCard({ gap, request, answer }: { gap: Gap; request: string; answer: RouteAnswer }): ReactNode {
  const [, save] = useMutation(SaveGapDocument);
  const [kept, setKept] = useState<{ id: string; issueText: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const [copied, setCopied] = useState<boolean | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const pack = gap.proposedPack;

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
    <section aria-label="What is missing" className="mt-2 border-l-2 border-warn bg-warn-tint px-4 py-3">
      <h3>Missing here</h3>
      <p className="max-w-reading wrap-anywhere">
        <TextWithCode text={gap.missingCapability} />
      </p>
      <p className="mt-3 font-medium">
        Proposed: <span className="font-mono text-dense">{pack.name}</span>
      </p>
      <dl className="mt-1 grid grid-cols-[6rem_1fr] gap-x-3 gap-y-1 text-dense [&>dt]:text-soft">
        <dt>Accepts</dt>
        <dd>{fieldWords(pack.inputSchema).join(", ") || "nothing"}</dd>
        <dt>Returns</dt>
        <dd>{fieldWords(pack.outputSchema).join(", ") || "nothing"}</dd>
        <dt>How</dt>
        <dd className="max-w-reading wrap-anywhere">
          <TextWithCode text={pack.integrationPattern} />
        </dd>
        <dt>What for</dt>
        <dd className="max-w-reading wrap-anywhere">
          <TextWithCode text={pack.whyUseful} />
        </dd>
      </dl>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button disabled={busy || kept !== null} onClick={() => void keep()}>
          Save proposal
        </Button>
        <Button disabled={busy} title="Also saves the proposal" onClick={() => void copyIssue()}>
          Copy as issue
        </Button>
        <ButtonLink to="/pipelines/new" search={{ from: templateOf(answer) }}>
          Build from template
        </ButtonLink>
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
    </section>
  );
}
