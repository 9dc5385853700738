import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { total } from "../../lib/text/format.ts";
import { Timestamp } from "../../components/Timestamp.tsx";
import { outcomeOf, problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { searchFrom } from "../../domain/start/inputSearch.ts";
import { DeleteProposalDocument, ProposalsDocument, type ProposalsQuery } from "./proposals.generated.ts";

type Proposal = ProposalsQuery["gapProposals"]["nodes"][number];

/** The pack that files an issue; its form is filled in from a proposal. */
const FILING = "github.create_issue";

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
    <Page title="Proposals" lead="Proposals for missing packs, saved from requests.">
      <AdminNav />
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.gapProposals.nodes.length === 0 ? (
        <Empty action={<ButtonLink to="/">Ask what to run</ButtonLink>}>
          There are no proposals. When nothing matches a request, the answer proposes a pack that you can save.
        </Empty>
      ) : (
        <>
          <p className="mb-1 text-right text-dense text-soft">{total(data.gapProposals.totalCount, "proposal")}</p>
          <ul className="divide-y divide-line border-y border-line">
            {data.gapProposals.nodes.map((proposal) => (
              <Row key={proposal.id} proposal={proposal} onDelete={() => setLeaving(proposal)} />
            ))}
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
            <span className="font-mono text-dense">{leaving.gap.proposedPack.name}</span>, for “{leaving.userIntent}”.
            You cannot undo this. A filed issue stays open.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function Row({ proposal, onDelete }: { proposal: Proposal; onDelete: () => void }): ReactNode {
  const { gap, userIntent, createdBy, createdAt, issueText, issueInput } = proposal;
  const texts = issueInput as Record<string, string>;
  return (
    <li className="px-2 py-3" aria-label={`Proposal ${gap.proposedPack.name}`}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="font-mono">{gap.proposedPack.name}</h2>
        <p className="text-dense text-soft">
          {createdBy.name} · <Timestamp at={createdAt} relative />
        </p>
      </div>
      <p className="wrap-anywhere">“{userIntent}”</p>
      <p className="max-w-reading text-dense text-soft wrap-anywhere">
        <TextWithCode text={gap.proposedPack.whyUseful} />
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <ButtonLink to="/catalog/$pack" params={{ pack: FILING }} search={searchFrom(texts)}>
          File as a GitHub issue…
        </ButtonLink>
        <Button kind="danger" onClick={onDelete}>
          Delete…
        </Button>
        <CopyButton text={issueText} label="Copy as issue" what={`for ${gap.proposedPack.name}`} />
      </div>
    </li>
  );
}
