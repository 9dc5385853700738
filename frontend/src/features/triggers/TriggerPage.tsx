import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { type CombinedError, useMutation, useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { JsonView } from "../../components/JsonView.tsx";
import { Notice } from "../../components/Notice.tsx";
import { LoadingOrProblem, Page, Section } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { TriggerState } from "../../domain/triggers/TriggerState.tsx";
import { FiresBy } from "../../domain/triggers/TriggerTable.tsx";
import { useWhenPassed } from "../../domain/triggers/useWhenPassed.ts";
import { outcomeOf, type Problem, problemOfError } from "../../lib/server/problem.ts";
import { Fact, Facts } from "./Facts.tsx";
import { Firings, type Payloads } from "./Firings.tsx";
import { NextFirings } from "./NextFirings.tsx";
import { CATCH_UP, OVERLAP } from "./policies.ts";
import { NoTrigger } from "./TriggerFormPages.tsx";
import {
  DeleteTriggerDocument,
  FireTriggerDocument,
  PauseTriggerDocument,
  ResumeTriggerDocument,
  TriggerPageDocument,
  type TriggerPageQuery,
} from "./triggers.generated.ts";
import { WHOSE } from "./whose.ts";
import { WebhookSection } from "./WebhookSection.tsx";

type Trigger = NonNullable<TriggerPageQuery["trigger"]>;

/** Firings on a page. */
const PAGE = 20;

export function TriggerPage(): ReactNode {
  const { trigger: id } = useParams({ from: "/triggers/$trigger" });
  const search = useSearch({ from: "/triggers/$trigger" });
  const [payloads, setPayloads] = useState(false);
  const [{ data, fetching, stale, error }, ask] = useQuery({
    query: TriggerPageDocument,
    variables: { id, payloads, ...pageArguments(search, PAGE) },
  });
  const again = () => ask({ requestPolicy: "network-only" });
  useRunChanges(again);
  useWhenPassed([data?.trigger?.nextAt ?? null], again);
  const trigger = data?.trigger;
  if (trigger === null && !fetching) return <NoTrigger />;
  if (data === undefined || trigger === undefined || trigger === null)
    return (
      <LoadingOrProblem
        page="This trigger cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  const { viewer } = data;
  const may = trigger.owner.id === viewer.id || viewer.scopes.includes("MANAGE");
  return (
    <Whole
      key={trigger.id}
      trigger={trigger}
      may={may}
      payloads={{ loading: fetching || stale, onWanted: () => setPayloads(true) }}
      onChanged={again}
    />
  );
}

function Whole({
  trigger,
  may,
  payloads,
  onChanged,
}: {
  trigger: Trigger;
  may: boolean;
  payloads: Payloads;
  onChanged: () => void;
}): ReactNode {
  const { id, name, pipeline, schedule, webhook, runEnded, enabled, attention, owner } = trigger;
  const search = useSearch({ from: "/triggers/$trigger" });
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [, pause] = useMutation(PauseTriggerDocument);
  const [, resume] = useMutation(ResumeTriggerDocument);
  const [{ fetching: firing }, fire] = useMutation(FireTriggerDocument);

  function settle(error: CombinedError | undefined, result: { __typename: string } | undefined | null): void {
    setProblem(outcomeOf(error, result, "TriggerSuccess").refusal);
    onChanged();
  }

  async function turn(): Promise<void> {
    if (enabled) {
      const answer = await pause({ id });
      settle(answer.error, answer.data?.pauseTrigger);
    } else {
      const answer = await resume({ id });
      settle(answer.error, answer.data?.resumeTrigger);
    }
  }

  async function fireNow(): Promise<void> {
    const answer = await fire({ id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.fireTrigger, "FireTriggerSuccess");
    setProblem(refusal);
    if (done?.run) await navigate({ to: "/runs/$run", params: { run: done.run.id }, search: {} });
    else onChanged();
  }

  return (
    <Page
      title={name}
      lead={
        <p className="flex flex-wrap items-baseline gap-x-3 text-dense">
          <TriggerState trigger={trigger} />
          <FiresBy trigger={trigger} />
        </p>
      }
      actions={
        may ? (
          <>
            <Button kind="quiet" onClick={() => setDeleting(true)}>
              Delete…
            </Button>
            {pipeline === null ? null : (
              <>
                <ButtonLink to="/triggers/$trigger/edit" params={{ trigger: id }}>
                  Edit
                </ButtonLink>
                <Button disabled={firing} onClick={() => void fireNow()}>
                  Fire now
                </Button>
              </>
            )}
            <Button kind={enabled ? "plain" : "primary"} onClick={() => void turn()}>
              {enabled ? "Pause" : "Resume"}
            </Button>
          </>
        ) : null
      }
    >
      <AdminNav />
      {attention === null ? null : (
        <div role="status" className="mb-5 border-l-2 border-warn bg-warn-tint px-3 py-2">
          <p className="font-medium">Packline paused this trigger.</p>
          <p className="wrap-anywhere">
            <TextWithCode text={attention} />
            {pipeline === null
              ? " Make a pipeline with that key again and resume the trigger, or delete it."
              : " Resume it when the cause is gone."}
          </p>
        </div>
      )}
      <Notice problem={problem} />
      <div className="grid gap-x-12 lg:grid-cols-2">
        {webhook === null ? null : <WebhookSection trigger={trigger} webhook={webhook} may={may} />}
        {schedule === null ? null : (
          <Section title="Next firings">
            {enabled ? null : (
              <p className="mb-2 text-soft">It is paused. When resumed, it would fire at these times.</p>
            )}
            <NextFirings instants={trigger.nextFirings} timeZone={schedule.cron === null ? null : schedule.timeZone} />
          </Section>
        )}
        <Section title="Details">
          <Facts>
            <Fact term="Pipeline">
              {pipeline === null ? (
                "deleted"
              ) : (
                <Link to="/pipelines/$pipeline" params={{ pipeline: pipeline.key }} className="link">
                  {pipeline.name}
                </Link>
              )}
            </Fact>
            <Fact term="Version">{trigger.version === null ? "the current one at each firing" : trigger.version}</Fact>
            <Fact term="Runs as">{owner.name}</Fact>
            {runEnded === null ? null : (
              <>
                <Fact term="Fires for runs of">
                  {runEnded.pipelines === null
                    ? "all pipelines except the one it starts"
                    : runEnded.pipelines.map((each) => each.name).join(", ") || "pipelines that were deleted"}
                </Fact>
                <Fact term="Whose runs">{WHOSE[runEnded.runsOf].word}</Fact>
              </>
            )}
            {schedule === null ? null : (
              <>
                <Fact term="Overlap">{OVERLAP[schedule.overlap].sentence}</Fact>
                <Fact term="After a downtime">
                  {CATCH_UP[schedule.catchUp].sentence}
                  {schedule.catchUp === "ALL" ? ` At most ${schedule.catchUpLimit}.` : ""}
                </Fact>
              </>
            )}
            <Fact term="Created">
              <Timestamp at={trigger.createdAt} />
              {trigger.updatedAt === trigger.createdAt ? null : (
                <>
                  , changed <Timestamp at={trigger.updatedAt} />
                </>
              )}
            </Fact>
          </Facts>
        </Section>
      </div>
      {isEmpty(trigger.inputs) ? null : (
        <Section title="Inputs">
          <JsonView value={trigger.inputs} />
        </Section>
      )}
      <Section title="Firings">
        <Firings
          firings={trigger.firings.nodes}
          ofWebhook={webhook !== null}
          payloads={payloads}
          onReplayed={may ? onChanged : null}
        />
        <Pager info={trigger.firings.pageInfo} place={search} />
      </Section>
      {deleting ? <DeleteDialog trigger={trigger} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

function isEmpty(inputs: unknown): boolean {
  return inputs === null || typeof inputs !== "object" || Object.keys(inputs).length === 0;
}

function DeleteDialog({ trigger, onClose }: { trigger: Trigger; onClose: () => void }): ReactNode {
  const [, remove] = useMutation(DeleteTriggerDocument);
  const navigate = useNavigate();

  async function go(): Promise<Problem | null> {
    const answer = await remove({ id: trigger.id });
    const { refusal } = outcomeOf(answer.error, answer.data?.deleteTrigger, "DeleteSuccess");
    if (refusal === null) await navigate({ to: "/triggers", search: {} });
    return refusal;
  }

  return (
    <Confirm
      title={`Delete the trigger “${trigger.name}”?`}
      word="Delete the trigger"
      keep="Cancel"
      onClose={onClose}
      onConfirm={go}
    >
      <p>It no longer starts runs, and its list of firings is deleted. The runs it started are kept.</p>
    </Confirm>
  );
}
