import { Link, Navigate, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMutation, useQuery } from "urql";

import { FormField } from "../../components/FormField.tsx";
import { LoadingOrProblem, NotFound, Page } from "../../components/Page.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { ownZone, zone } from "../../lib/time/zone.ts";
import { refusalOf } from "./refusal.ts";
import { newSchedule, scheduleTexts } from "./scheduleForm.ts";
import { type Draft, type Refusal, TriggerForm } from "./TriggerForm.tsx";
import {
  CreateTriggerDocument,
  TriggerPipelinesDocument,
  TriggerTargetDocument,
  TriggerToEditDocument,
  UpdateTriggerDocument,
} from "./triggers.generated.ts";

export function NewTriggerPage(): ReactNode {
  const { pipeline } = useSearch({ from: "/triggers/new" });
  const navigate = useNavigate({ from: "/triggers/new" });
  if (pipeline !== undefined) return <NewTrigger key={pipeline} pipeline={pipeline} />;
  return (
    <Page title="Add a schedule" lead="It starts runs of one pipeline at set times.">
      <ChoosePipeline onChoose={(chosen) => void navigate({ search: { pipeline: chosen }, replace: true })} />
    </Page>
  );
}

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

function NewTrigger({ pipeline: id }: { pipeline: string }): ReactNode {
  const navigate = useNavigate();
  const [{ data, fetching, error, extensions }] = useQuery({
    query: TriggerTargetDocument,
    variables: { pipeline: id },
  });
  const [, create] = useMutation(CreateTriggerDocument);

  async function save(draft: Draft, inputNames: readonly string[]): Promise<Refusal | null> {
    const answer = await create({ pipeline: id, ...draft });
    const result = answer.data?.createTrigger;
    if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
      return refusalOf(answer.error, result, inputNames);
    await navigate({ to: "/triggers/$trigger", params: { trigger: result.trigger.id }, search: {} });
    return null;
  }

  const pipeline = data?.pipeline;
  if (pipeline === null && !fetching) return <UnknownPipeline id={id} extensions={extensions} />;
  if (pipeline === undefined || pipeline === null)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  return (
    <Page
      title={`Add a schedule to ${pipeline.name}`}
      lead={
        <p>
          Its runs belong to you and have your permissions.{" "}
          <Link to="/pipelines/$pipeline" params={{ pipeline: pipeline.key }} className="link">
            View the pipeline
          </Link>
        </p>
      }
    >
      <TriggerForm
        inputSchema={pipeline.inputSchema}
        name=""
        schedule={newSchedule(zone() ?? ownZone())}
        word="Add the schedule"
        onCancel={() => void navigate({ to: "/triggers", search: { pipeline: pipeline.key } })}
        onSave={save}
      />
    </Page>
  );
}

export function EditTriggerPage(): ReactNode {
  const { trigger: id } = useParams({ from: "/triggers/$trigger/edit" });
  const navigate = useNavigate();
  const [{ data, fetching, error }] = useQuery({ query: TriggerToEditDocument, variables: { id } });
  const [, update] = useMutation(UpdateTriggerDocument);
  const leave = () => navigate({ to: "/triggers/$trigger", params: { trigger: id }, search: {} });
  const trigger = data?.trigger;
  if (trigger === null && !fetching) return <NoTrigger />;
  if (trigger === undefined || trigger === null)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const { inputs, schedule } = trigger;
  // A webhook has no form yet.
  if (schedule === null) return <Navigate to="/triggers/$trigger" params={{ trigger: id }} search={{}} replace />;

  async function save(draft: Draft, inputNames: readonly string[]): Promise<Refusal | null> {
    // Secrets in the inputs come masked: what was not changed is not sent back.
    const same = JSON.stringify(draft.inputs) === JSON.stringify(inputs);
    const answer = await update({
      id,
      name: draft.name,
      schedule: draft.schedule,
      ...(same ? {} : { inputs: draft.inputs }),
    });
    const result = answer.data?.updateTrigger;
    if (answer.error !== undefined || result?.__typename !== "TriggerSuccess")
      return refusalOf(answer.error, result, inputNames);
    await leave();
    return null;
  }

  return (
    <Page title={`Edit ${trigger.name}`} lead="Firings before the change are not made up for.">
      <TriggerForm
        key={trigger.id}
        inputSchema={trigger.pipeline?.inputSchema}
        name={trigger.name}
        schedule={scheduleTexts(schedule)}
        inputs={inputs}
        word="Save"
        onCancel={() => void leave()}
        onSave={save}
      />
    </Page>
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
