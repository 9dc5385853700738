import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { FormField } from "../../components/FormField.tsx";
import { LoadingOrProblem, NotFound, Page } from "../../components/Page.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { ownZone, zone } from "../../lib/time/zone.ts";
import { refusalOf } from "./refusal.ts";
import { ScheduleForm } from "./ScheduleForm.tsx";
import { newSchedule, scheduleTexts } from "./scheduleForm.ts";
import { type Choice, RunEndedForm } from "./RunEndedForm.tsx";
import type { NewTriggerSearch } from "./search.ts";
import { SecretOnce } from "./SecretOnce.tsx";
import type { Draft, Refusal } from "./TriggerForm.tsx";
import {
  CreateTriggerDocument,
  type CreateTriggerMutationVariables,
  CreateWebhookDocument,
  type RunEndedInput,
  type ScheduleInput,
  TriggerPipelinesDocument,
  TriggerTargetDocument,
  type TriggerTargetQuery,
  TriggerToEditDocument,
  type TriggerToEditQuery,
  UpdateTriggerDocument,
  type UpdateTriggerMutationVariables,
  UpdateWebhookDocument,
} from "./triggers.generated.ts";
import { webhookAddress } from "./webhookAddress.ts";
import { WebhookForm, type WebhookSettings } from "./WebhookForm.tsx";

export function NewTriggerPage(): ReactNode {
  const { pipeline, kind }: NewTriggerSearch = useSearch({ from: "/triggers/new" });
  const navigate = useNavigate({ from: "/triggers/new" });
  if (pipeline !== undefined) return <NewTrigger key={`${pipeline} ${kind}`} pipeline={pipeline} kind={kind} />;
  return (
    <Page title={`Add a ${KINDS[kind ?? "schedule"].word}`} lead={KINDS[kind ?? "schedule"].sentence}>
      <ChoosePipeline onChoose={(chosen) => void navigate({ search: { pipeline: chosen, kind }, replace: true })} />
    </Page>
  );
}

const KINDS = {
  schedule: { word: "schedule", sentence: "It starts runs of one pipeline at set times." },
  webhook: {
    word: "webhook",
    sentence: "It starts a run of one pipeline whenever another service calls its address.",
  },
  "run-ended": {
    word: "run-ended trigger",
    sentence: "It starts a run of one pipeline, such as Notify about a failed run, when runs of others end.",
  },
};

function ChoosePipeline({ onChoose }: { onChoose: (key: string) => void }): ReactNode {
  const [{ data, fetching, error }] = useQuery({ query: TriggerPipelinesDocument });
  if (data === undefined)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  return (
    <div className="max-w-2xl">
      <FormField label="Pipeline" about="Pipelines that cannot run here are left out.">
        {(given) => (
          <select {...given} value="" onChange={(event) => onChoose(event.target.value)}>
            <option value="" disabled>
              Choose a pipeline
            </option>
            {data.pipelines.nodes
              .filter(({ availability }) => availability.usable)
              .map(({ key, name }) => (
                <option key={key} value={key}>
                  {name}
                </option>
              ))}
          </select>
        )}
      </FormField>
    </div>
  );
}

function NewTrigger({ pipeline: id, kind }: { pipeline: string; kind: NewTriggerSearch["kind"] }): ReactNode {
  const [{ data, fetching, error, extensions }] = useQuery({
    query: TriggerTargetDocument,
    variables: { pipeline: id },
  });
  const pipeline = data?.pipeline;
  if (pipeline === null && !fetching) return <UnknownPipeline id={id} extensions={extensions} />;
  if (pipeline === undefined || pipeline === null)
    return (
      <LoadingOrProblem
        page="This pipeline cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  return (
    <Page
      title={`Add a ${KINDS[kind ?? "schedule"].word} to ${pipeline.name}`}
      lead={
        <p>
          Its runs belong to you and have your permissions.{" "}
          <Link to="/pipelines/$pipeline" params={{ pipeline: pipeline.key }} className="link">
            View the pipeline
          </Link>
        </p>
      }
    >
      {kind === undefined ? <NewSchedule pipeline={pipeline} /> : null}
      {kind === "webhook" ? <NewWebhook pipeline={pipeline} /> : null}
      {kind === "run-ended" ? <NewRunEnded pipeline={pipeline} /> : null}
    </Page>
  );
}

type Target = NonNullable<TriggerTargetQuery["pipeline"]>;

type Save<Settings> = (draft: Draft<Settings>, inputNames: readonly string[]) => Promise<Refusal | null>;

/** Creates a trigger of what `read` makes of the settings, and goes to its page. */
function useCreate<Settings>(
  pipeline: Target,
  read: (settings: Settings) => Pick<CreateTriggerMutationVariables, "schedule" | "runEnded">,
): Save<Settings> {
  const navigate = useNavigate();
  const [, create] = useMutation(CreateTriggerDocument);
  return async ({ name, settings, inputs }, inputNames) => {
    const answer = await create({ pipeline: pipeline.id, name, ...read(settings), inputs });
    const result = answer.data?.createTrigger;
    if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
      return refusalOf(answer.error, result, inputNames);
    await navigate({ to: "/triggers/$trigger", params: { trigger: result.trigger.id }, search: {} });
    return null;
  };
}

function NewSchedule({ pipeline }: { pipeline: Target }): ReactNode {
  const navigate = useNavigate();
  const save = useCreate<ScheduleInput>(pipeline, (schedule) => ({ schedule }));

  return (
    <ScheduleForm
      inputSchema={pipeline.inputSchema}
      name=""
      schedule={newSchedule(zone() ?? ownZone())}
      word="Add the schedule"
      onCancel={() => void navigate({ to: "/triggers", search: { pipeline: pipeline.key } })}
      onSave={save}
    />
  );
}

/** The pipelines whose runs may fire a trigger of one of them. */
function useOtherPipelines(own: string | undefined): readonly Choice[] {
  const [{ data }] = useQuery({ query: TriggerPipelinesDocument });
  return data?.pipelines.nodes.filter(({ id }) => id !== own) ?? [];
}

function NewRunEnded({ pipeline }: { pipeline: Target }): ReactNode {
  const navigate = useNavigate();
  const choices = useOtherPipelines(pipeline.id);
  const save = useCreate<RunEndedInput>(pipeline, (runEnded) => ({ runEnded }));

  return (
    <RunEndedForm
      inputSchema={pipeline.inputSchema}
      name=""
      runEnded={{ states: ["FAILED"], pipelines: null, runsOf: "OWNER" }}
      choices={choices}
      word="Add the trigger"
      onCancel={() => void navigate({ to: "/triggers", search: { pipeline: pipeline.key } })}
      onSave={save}
    />
  );
}

interface Made {
  trigger: string;
  url: string | null;
  secret: string;
}

/** The form of a webhook; once it is saved, its secret instead. */
function NewWebhook({ pipeline }: { pipeline: Target }): ReactNode {
  const navigate = useNavigate();
  const [, create] = useMutation(CreateWebhookDocument);
  const [made, setMade] = useState<Made | null>(null);

  async function save(draft: Draft<WebhookSettings>, inputNames: readonly string[]): Promise<Refusal | null> {
    const { name, settings, inputs } = draft;
    const answer = await create({ pipeline: pipeline.id, name, ...settings, inputs });
    const result = answer.data?.createWebhook;
    if (answer.error !== undefined || result?.__typename !== "WebhookSecretSuccess")
      return refusalOf(answer.error, result, inputNames);
    const { trigger, secret } = result;
    setMade({
      trigger: trigger.id,
      url: trigger.webhook === null ? null : webhookAddress(trigger.webhook.url),
      secret,
    });
    return null;
  }

  if (made !== null)
    return (
      <SecretOnce
        title="The webhook is ready."
        url={made.url}
        secret={made.secret}
        onDone={() => void navigate({ to: "/triggers/$trigger", params: { trigger: made.trigger }, search: {} })}
      />
    );
  return (
    <WebhookForm
      inputSchema={pipeline.inputSchema}
      name=""
      webhook={null}
      word="Add the webhook"
      onCancel={() => void navigate({ to: "/triggers", search: { pipeline: pipeline.key } })}
      onSave={save}
    />
  );
}

export function EditTriggerPage(): ReactNode {
  const { trigger: id } = useParams({ from: "/triggers/$trigger/edit" });
  const [{ data, fetching, error }] = useQuery({ query: TriggerToEditDocument, variables: { id } });
  const trigger = data?.trigger;
  if (trigger === null && !fetching) return <NoTrigger />;
  if (trigger === undefined || trigger === null)
    return (
      <LoadingOrProblem
        page="This trigger cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  const { schedule, webhook, runEnded } = trigger;
  return (
    <Page
      title={`Edit ${trigger.name}`}
      lead={
        webhook === null
          ? "Changes apply to later firings. Missed ones do not fire."
          : "Changes apply to later deliveries."
      }
    >
      {schedule === null ? null : (
        <EditSchedule key={trigger.id} trigger={trigger} schedule={scheduleTexts(schedule)} />
      )}
      {runEnded === null ? null : <EditRunEnded key={trigger.id} trigger={trigger} runEnded={runEnded} />}
      {webhook === null ? null : <EditWebhook key={trigger.id} trigger={trigger} webhook={webhook} />}
    </Page>
  );
}

type Edited = NonNullable<TriggerToEditQuery["trigger"]>;

/** The inputs to send: secrets in them come masked, so what was not changed is not sent back. */
function changedInputs(trigger: Edited, inputs: Record<string, unknown>): { inputs?: Record<string, unknown> } {
  return JSON.stringify(inputs) === JSON.stringify(trigger.inputs) ? {} : { inputs };
}

function useLeave({ id }: Edited): () => Promise<void> {
  const navigate = useNavigate();
  return () => navigate({ to: "/triggers/$trigger", params: { trigger: id }, search: {} });
}

/** Changes a trigger to what `read` makes of the settings, and goes back to its page. */
function useUpdate<Settings>(
  trigger: Edited,
  read: (settings: Settings) => Pick<UpdateTriggerMutationVariables, "schedule" | "runEnded">,
): Save<Settings> {
  const [, update] = useMutation(UpdateTriggerDocument);
  const leave = useLeave(trigger);
  return async ({ name, settings, inputs }, inputNames) => {
    const answer = await update({ id: trigger.id, name, ...read(settings), ...changedInputs(trigger, inputs) });
    const result = answer.data?.updateTrigger;
    if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
      return refusalOf(answer.error, result, inputNames);
    await leave();
    return null;
  };
}

function EditSchedule({
  trigger,
  schedule: before,
}: {
  trigger: Edited;
  schedule: ReturnType<typeof scheduleTexts>;
}): ReactNode {
  const leave = useLeave(trigger);
  const save = useUpdate<ScheduleInput>(trigger, (schedule) => ({ schedule }));

  return (
    <ScheduleForm
      inputSchema={trigger.pipeline?.inputSchema}
      name={trigger.name}
      schedule={before}
      inputs={trigger.inputs}
      word="Save"
      onCancel={() => void leave()}
      onSave={save}
    />
  );
}

function EditRunEnded({
  trigger,
  runEnded: { states, pipelines, runsOf },
}: {
  trigger: Edited;
  runEnded: NonNullable<Edited["runEnded"]>;
}): ReactNode {
  const leave = useLeave(trigger);
  const choices = useOtherPipelines(trigger.pipeline?.id);
  const save = useUpdate<RunEndedInput>(trigger, (runEnded) => ({ runEnded }));

  return (
    <RunEndedForm
      inputSchema={trigger.pipeline?.inputSchema}
      name={trigger.name}
      runEnded={{ states, pipelines, runsOf }}
      choices={choices}
      inputs={trigger.inputs}
      word="Save"
      onCancel={() => void leave()}
      onSave={save}
    />
  );
}

function EditWebhook({ trigger, webhook }: { trigger: Edited; webhook: NonNullable<Edited["webhook"]> }): ReactNode {
  const [, update] = useMutation(UpdateTriggerDocument);
  const [, updateEvents] = useMutation(UpdateWebhookDocument);
  const leave = useLeave(trigger);

  /** Saves in two commands. If the second is refused, the events are saved: the next attempt sends only the rest. */
  async function save(draft: Draft<WebhookSettings>, inputNames: readonly string[]): Promise<Refusal | null> {
    const { name, settings, inputs } = draft;
    if (JSON.stringify(settings.events) !== JSON.stringify(webhook.events)) {
      const answer = await updateEvents({ id: trigger.id, events: settings.events });
      const result = answer.data?.updateWebhook;
      if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
        return refusalOf(answer.error, result, inputNames);
    }
    const change = { ...(name === trigger.name ? {} : { name }), ...changedInputs(trigger, inputs) };
    if (Object.keys(change).length > 0) {
      const answer = await update({ id: trigger.id, ...change });
      const result = answer.data?.updateTrigger;
      if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
        return refusalOf(answer.error, result, inputNames);
    }
    await leave();
    return null;
  }

  return (
    <WebhookForm
      inputSchema={trigger.pipeline?.inputSchema}
      name={trigger.name}
      webhook={webhook}
      inputs={trigger.inputs}
      word="Save"
      onCancel={() => void leave()}
      onSave={save}
    />
  );
}

/** Says that a trigger does not exist. */
export function NoTrigger(): ReactNode {
  return (
    <NotFound
      title="There is no such trigger"
      onward={
        <Link to="/triggers" className="link">
          All triggers
        </Link>
      }
    >
      It was deleted with its firings, or it belongs to another caller. The runs it started are kept.
    </NotFound>
  );
}
