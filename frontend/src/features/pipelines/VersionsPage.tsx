import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { DiffView } from "../../components/DiffView.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../lib/server/problem.ts";
import { Loading, Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { PipelineTabs } from "./PipelineTabs.tsx";
import {
  PipelineVersionsDocument,
  type PipelineVersionsQuery,
  RestoreVersionDocument,
  VersionTextDocument,
} from "./pipelines.generated.ts";
import type { VersionsSearch } from "./search.ts";

type Pipeline = NonNullable<PipelineVersionsQuery["pipeline"]>;

/** `/pipelines/:id/versions?a=&b=`: every save, and what differs between any two. */
export function VersionsPage(): ReactNode {
  const { pipeline: id } = useParams({ from: "/pipelines/$pipeline/versions" });
  const search = useSearch({ from: "/pipelines/$pipeline/versions" });
  const [{ data, fetching, error, extensions }, again] = useQuery({
    query: PipelineVersionsDocument,
    variables: { id, ...pageArguments(search) },
  });
  const pipeline = data?.pipeline;
  if (pipeline === null && !fetching) {
    return <UnknownPipeline id={id} extensions={extensions} />;
  }
  if (pipeline === undefined || pipeline === null)
    return (
      <LoadingOrProblem
        page="These versions cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  return <Whole pipeline={pipeline} search={search} onSaved={() => again({ requestPolicy: "network-only" })} />;
}

function Whole({
  pipeline,
  search,
  onSaved,
}: {
  pipeline: Pipeline;
  search: VersionsSearch;
  onSaved: () => void;
}): ReactNode {
  const navigate = useNavigate({ from: "/pipelines/$pipeline/versions" });
  const [restoring, setRestoring] = useState<number | null>(null);
  const current = pipeline.currentVersion.number;
  const b = search.b ?? current;
  const a = search.a ?? Math.max(1, b - 1);
  const set = (change: Partial<VersionsSearch>): void =>
    void navigate({ search: (kept: VersionsSearch) => ({ ...kept, ...change }), replace: true });
  function done(number: number): void {
    onSaved();
    set({ a: number - 1, b: number, after: undefined, before: undefined });
  }
  const mayRestore = pipeline.actions.includes("UPDATE");
  return (
    <Page title={pipeline.name} lead={<p className="font-mono text-dense">{pipeline.key}</p>}>
      <PipelineTabs pipeline={pipeline.key} />
      <div className="grid gap-x-8 xl:grid-cols-[24rem_minmax(0,1fr)]">
        <Section title="Versions">
          <p className="mb-2 text-dense text-soft">Choose two to compare.</p>
          <table className="w-full border-collapse text-dense" aria-label="Versions">
            <thead>
              <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-3 [&>th]:font-medium">
                <th>From</th>
                <th>To</th>
                <th className="w-full">Version</th>
                <th>
                  <span className="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {pipeline.versions.nodes.map((version) => (
                <tr
                  key={version.id}
                  className={`border-b border-line align-top [&>td]:py-2 [&>td]:pr-3 ${version.number === a || version.number === b ? "bg-accent-tint" : ""}`}
                >
                  <td className="!pl-2">
                    <input
                      type="radio"
                      name="from"
                      aria-label={`From version ${version.number}`}
                      checked={version.number === a}
                      onChange={() => set({ a: version.number, b })}
                    />
                  </td>
                  <td>
                    <input
                      type="radio"
                      name="to"
                      aria-label={`To version ${version.number}`}
                      checked={version.number === b}
                      onChange={() => set({ a, b: version.number })}
                    />
                  </td>
                  <td className="min-w-0">
                    <span className="font-medium">{version.number}</span>
                    {version.number === current ? <span className="text-ok"> · current</span> : null}
                    <span className="text-soft">
                      {" "}
                      · <Timestamp at={version.createdAt} relative />
                      {version.createdBy === null ? " · with Packline" : ` · ${version.createdBy.name}`}
                    </span>
                    {version.note === null ? null : <span className="block wrap-anywhere">{version.note}</span>}
                  </td>
                  <td className="text-right">
                    {mayRestore && version.number !== current ? (
                      <button type="button" className="link" onClick={() => setRestoring(version.number)}>
                        Restore…<span className="sr-only"> version {version.number}</span>
                      </button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <Pager info={pipeline.versions.pageInfo} place={search} />
        </Section>
        <Section
          title="What differs"
          more={
            <label className="flex items-center gap-2 text-dense max-lg:hidden">
              <input
                type="checkbox"
                checked={search.view === "split"}
                onChange={({ target }) => set({ view: target.checked ? "split" : undefined })}
              />
              Side by side
            </label>
          }
        >
          <Compared pipelineId={pipeline.id} a={a} b={b} split={search.view === "split"} />
        </Section>
      </div>
      {restoring === null ? null : (
        <RestoreDialog pipeline={pipeline} number={restoring} onClose={() => setRestoring(null)} onDone={done} />
      )}
    </Page>
  );
}

function useText(id: string, number: number): { text: string | null; absent: boolean; problem: Problem | null } {
  const [{ data, fetching, error }] = useQuery({
    query: VersionTextDocument,
    variables: { id, number },
    requestPolicy: "cache-first",
  });
  const version = data?.pipeline?.versionByNumber;
  const known = version != null && version.number === number;
  return {
    text: known ? version.yaml : null,
    absent: !fetching && version === null,
    problem: error === undefined ? null : problemOfError(error),
  };
}

function Compared({
  pipelineId,
  a,
  b,
  split,
}: {
  pipelineId: string;
  a: number;
  b: number;
  split: boolean;
}): ReactNode {
  const [one, other] = [useText(pipelineId, a), useText(pipelineId, b)];
  const gone = one.absent ? a : other.absent ? b : null;
  if (gone !== null) return <p className="text-soft">There is no version {gone}.</p>;
  if (one.text === null || other.text === null)
    return (
      <LoadingOrProblem
        fetching={one.problem === null && other.problem === null}
        problem={one.problem ?? other.problem}
      />
    );
  if (a === b) return <p className="text-soft">Both are the same version. Choose another one to compare.</p>;
  return (
    <DiffView
      key={`${a} ${b}`}
      before={one.text}
      after={other.text}
      names={[`version ${a}`, `version ${b}`]}
      split={split}
    />
  );
}

/** An old version becomes the newest: a save like any other, so nothing is lost. */
function RestoreDialog({
  pipeline,
  number,
  onClose,
  onDone,
}: {
  pipeline: Pipeline;
  number: number;
  onClose: () => void;
  onDone: (number: number) => void;
}): ReactNode {
  const { text, problem: unread } = useText(pipeline.id, number);
  const [{ fetching }, restore] = useMutation(RestoreVersionDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const current = pipeline.currentVersion;

  async function go(yaml: string): Promise<void> {
    const { data, error } = await restore({
      pipeline: pipeline.id,
      yaml,
      ifVersion: current.number,
      note: `Version ${number} restored`,
    });
    const result = data?.updatePipeline;
    if (error !== undefined) setProblem(problemOfCommand(error));
    else if (result?.__typename !== "PipelineSuccess") setProblem(problemOf(result ?? {}));
    else {
      onDone(result.pipeline.currentVersion.number);
      onClose();
    }
  }

  return (
    <Dialog title={`Restore version ${number}`} onClose={onClose} wide>
      <p className="mb-3">
        Packline saves it as version {current.number + 1}. The other versions stay, and runs in progress keep theirs.
      </p>
      {text === null ? (
        <Loading />
      ) : (
        <DiffView
          before={current.yaml}
          after={text}
          names={[`version ${current.number}, the current one`, `version ${number}`]}
        />
      )}
      <Notice problem={problem ?? unread} />
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          data-autofocus=""
          disabled={fetching || text === null}
          onClick={() => void go(text ?? "")}
        >
          Restore as version {current.number + 1}
        </Button>
      </div>
    </Dialog>
  );
}
