import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useClient, useQuery } from "urql";

import { type Outcome, outcomeOf, problemOfError } from "../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../components/Page.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { setAt } from "./definition/definition.ts";
import { BLANK, proposedText } from "./definition/proposed.ts";
import {
  type EditedPipelineFragment,
  EditorPipelineDocument,
  EditorProposalDocument,
  type EditorProposalQuery,
} from "./editor.generated.ts";
import { Editor, prepare } from "./Editor.tsx";
import type { EditorSearch } from "./search.ts";

/** `/pipelines/:id/edit`. */
export function EditorPage(): ReactNode {
  const { pipeline: id } = useParams({ from: "/pipelines/$pipeline/edit" });
  const search = useSearch({ from: "/pipelines/$pipeline/edit" });
  const navigate = useNavigate({ from: "/pipelines/$pipeline/edit" });
  const onSearch = (next: EditorSearch): void => void navigate({ search: next, replace: true });
  useEffect(() => prepare(search.view), [search.view]);
  return (
    <Loaded id={id}>
      {(pipeline) => (
        <Editor
          key={pipeline.id}
          pipeline={pipeline}
          source={null}
          startText={pipeline.currentVersion.yaml}
          search={search}
          onSearch={onSearch}
        />
      )}
    </Loaded>
  );
}

/**
 * `/pipelines/new`: from nothing, from a copy of another pipeline, made from a run, or as far as a proposal for a missing
 * capability goes.
 */
export function NewPipelinePage(): ReactNode {
  const search = useSearch({ from: "/pipelines/new" });
  const navigate = useNavigate({ from: "/pipelines/new" });
  const { from, run, name, packs, inputs } = search;
  const startText = useMemo(
    () => (packs === undefined ? BLANK : proposedText({ name, packs, inputs })),
    [name, packs, inputs],
  );
  const onSearch = (next: EditorSearch): void =>
    void navigate({ search: { ...next, from, run, name, packs, inputs }, replace: true });
  if (run !== undefined) {
    return (
      <Proposed key={run} run={run}>
        {({ yaml, madeFrom }) => (
          <Editor
            pipeline={null}
            source={null}
            proposal={{ run, madeFrom }}
            startText={yaml}
            search={search}
            onSearch={onSearch}
          />
        )}
      </Proposed>
    );
  }
  if (from === undefined) {
    return (
      <Editor
        key={`new ${startText}`}
        pipeline={null}
        source={null}
        proposedAs={packs === undefined ? undefined : `${packs} ${name ?? ""} ${inputs ?? ""}`.trim()}
        startText={startText}
        search={search}
        onSearch={onSearch}
      />
    );
  }
  return (
    <Loaded id={from}>
      {(source) => (
        <Editor
          key={source.id}
          pipeline={null}
          source={source}
          startText={setAt(setAt(source.currentVersion.yaml, ["key"], undefined), ["name"], `Copy of ${source.name}`)}
          search={search}
          onSearch={onSearch}
        />
      )}
    </Loaded>
  );
}

type Proposal = Extract<EditorProposalQuery["promoteRun"], { __typename: "PromoteRunSuccess" }>;

/** Requests the pipeline proposed from a run, once. */
function Proposed({ run, children }: { run: string; children: (proposal: Proposal) => ReactNode }): ReactNode {
  const client = useClient();
  const [outcome, setOutcome] = useState<Outcome<Proposal> | null>(null);
  useEffect(() => {
    let left = false;
    void client.query(EditorProposalDocument, { run }, { requestPolicy: "network-only" }).then((answer) => {
      if (!left) setOutcome(outcomeOf(answer.error, answer.data?.promoteRun, "PromoteRunSuccess"));
    });
    return () => {
      left = true;
    };
  }, [client, run]);
  if (outcome?.done != null) return children(outcome.done);
  return (
    <LoadingOrProblem
      page="This pipeline cannot be loaded"
      fetching={outcome === null}
      problem={outcome?.refusal ?? null}
    />
  );
}

/** Reads a pipeline once; what others save later must not change what is being edited. */
function Loaded({
  id,
  children,
}: {
  id: string;
  children: (pipeline: EditedPipelineFragment) => ReactNode;
}): ReactNode {
  const [{ data, fetching, error, extensions }] = useQuery({
    query: EditorPipelineDocument,
    variables: { id },
    requestPolicy: "network-only",
  });
  const [first, setFirst] = useState<EditedPipelineFragment | null>(null);
  const pipeline = data?.pipeline;
  if (pipeline != null && !fetching && first?.id !== pipeline.id) setFirst(pipeline);
  if (pipeline === null && !fetching) {
    return <UnknownPipeline id={id} extensions={extensions} />;
  }
  if (first === null || (pipeline != null && first.id !== pipeline.id))
    return (
      <LoadingOrProblem
        page="This pipeline cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  return children(first);
}
