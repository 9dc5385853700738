import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { excerpt } from "../../lib/text/excerpt.ts";
import { total } from "../../lib/text/format.ts";
import { Timestamp } from "../../components/Timestamp.tsx";
import { outcomeOf, problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { outlineOf } from "../../domain/entries/outline.ts";
import { searchFrom } from "../../domain/start/inputSearch.ts";
import { DeleteProposalDocument, ProposalsDocument, type ProposalsQuery } from "./proposals.generated.ts";

type Proposal = ProposalsQuery["gapProposals"]["nodes"][number];
type ReadableProposal = Proposal & { gap: NonNullable<Proposal["gap"]> };

/** The pack that files an issue; its form is filled in from a proposal. */
const FILING = "github.create_issue";
/** The characters of a request that identify it. */
const EXCERPT = 200;

export function ProposalsPage(): ReactNode {
  const search = useSearch({ from: "/proposals" });
  const [{ data, fetching, error }, ask] = useQuery({
    query: ProposalsDocument,
    variables: pageArguments(search),
    requestPolicy: "cache-and-network",
  });
  const [, remove] = useMutation(DeleteProposalDocument);
  const [leaving, setLeaving] = useState<Proposal | null>(null);
  return (
    <Page title="Proposals" lead="Proposals for missing capabilities, saved from requests.">
      <AdminNav />
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.gapProposals.nodes.length === 0 ? (
        <Empty action={<ButtonLink to="/">Ask what to run</ButtonLink>}>
          There are no proposals. When something in a request is missing here, the answer proposes what would do it, and
          you can save that.
        </Empty>
      ) : (
        <>
          <p className="mb-1 text-right text-dense text-soft">{total(data.gapProposals.totalCount, "proposal")}</p>
          <ul className="divide-y divide-line border-y border-line">
            {data.gapProposals.nodes.map((proposal) =>
              isReadable(proposal) ? (
                <Row key={proposal.id} proposal={proposal} onDelete={() => setLeaving(proposal)} />
              ) : (
                <UnreadableRow key={proposal.id} proposal={proposal} onDelete={() => setLeaving(proposal)} />
              ),
            )}
          </ul>
          <Pager info={data.gapProposals.pageInfo} place={search} />
        </>
      )}
      {leaving === null ? null : (
        <Confirm
          title="Delete this proposal?"
          word="Delete the proposal"
          keep="Cancel"
          onClose={() => setLeaving(null)}
          onConfirm={async () => {
            const answer = await remove({ id: leaving.id });
            const { refusal } = outcomeOf(answer.error, answer.data?.deleteGapProposal, "DeleteSuccess");
            if (refusal === null) ask({ requestPolicy: "network-only" });
            return refusal;
          }}
        >
          <p>
            <span className="font-mono text-dense">{leaving.gap?.proposal.name ?? "Proposal"}</span>, for “
            {excerpt(leaving.userIntent, EXCERPT)}”. You cannot undo this. A filed issue stays open.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function isReadable(proposal: Proposal): proposal is ReadableProposal {
  return proposal.gap !== null;
}

/** A proposal that another release saved in a form that this one does not know. */
function UnreadableRow({ proposal, onDelete }: { proposal: Proposal; onDelete: () => void }): ReactNode {
  const { userIntent, createdBy, createdAt } = proposal;
  return (
    <li className="px-2 py-3" aria-label={`Proposal for ${excerpt(userIntent, EXCERPT)}`}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="line-clamp-3 min-w-0 wrap-anywhere first-letter:uppercase">{userIntent}</h2>
        <p className="text-dense text-soft">
          {createdBy.name} · <Timestamp at={createdAt} relative />
        </p>
      </div>
      <p className="max-w-reading text-dense text-soft">
        Another release of Packline saved this proposal, and this one cannot read it. Delete it and ask again.
      </p>
      <WholeRequest text={userIntent} />
      <Button kind="danger" className="mt-2" onClick={onDelete}>
        Delete…
      </Button>
    </li>
  );
}

/** A request of which the row shows only the beginning. */
function WholeRequest({ text }: { text: string }): ReactNode {
  return text.length <= EXCERPT ? null : (
    <details>
      <summary className="link w-fit text-dense">The whole request</summary>
      <p className="mt-1 max-w-reading text-dense wrap-anywhere whitespace-pre-wrap">{text}</p>
    </details>
  );
}

function Row({ proposal, onDelete }: { proposal: ReadableProposal; onDelete: () => void }): ReactNode {
  const { gap, userIntent, createdBy, createdAt, issueText, issueInput } = proposal;
  const { proposal: proposed } = gap;
  const texts = issueInput as Record<string, string>;
  return (
    <li className="px-2 py-3" aria-label={`Proposal ${proposed.name}`}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="line-clamp-3 min-w-0 wrap-anywhere first-letter:uppercase">{gap.missingCapability}</h2>
        <p className="text-dense text-soft">
          {createdBy.name} · <Timestamp at={createdAt} relative />
        </p>
      </div>
      <p className="max-w-reading text-dense text-soft wrap-anywhere">
        <TextWithCode text={gap.whyMissing} />
      </p>
      <p className="mt-1 max-w-reading text-dense wrap-anywhere">
        {proposed.action === "DRAFT_PIPELINE" ? "Proposed pipeline " : "Proposed pack "}
        <span className="font-mono">{proposed.name}</span>: <TextWithCode text={proposed.summary} />
      </p>
      <p className="max-w-reading text-dense text-soft wrap-anywhere">
        Saved from the request “{excerpt(userIntent, EXCERPT)}”.
      </p>
      <WholeRequest text={userIntent} />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        {proposed.action === "DRAFT_PIPELINE" ? (
          <ButtonLink to="/pipelines/new" search={outlineOf(proposed)}>
            Draft the pipeline
          </ButtonLink>
        ) : null}
        <ButtonLink to="/catalog/$pack" params={{ pack: FILING }} search={searchFrom(texts)}>
          File as a GitHub issue…
        </ButtonLink>
        <Button kind="danger" onClick={onDelete}>
          Delete…
        </Button>
        <CopyButton text={issueText ?? ""} label="Copy as issue" what={`for ${proposed.name}`} />
      </div>
    </li>
  );
}
