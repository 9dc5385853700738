import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { useMutation, useQuery } from "urql";

import { TextWithCode } from "../../components/TextWithCode.tsx";
import { MissingRequirements } from "../../domain/entries/MissingRequirements.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../lib/server/problem.ts";
import { Page, LoadingOrProblem } from "../../components/Page.tsx";
import { type Start, StartForm } from "../../domain/start/StartForm.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { useLearned } from "../../domain/start/useLearned.ts";
import { type InputSearch, textsFrom, withTexts } from "../../domain/start/inputSearch.ts";
import { useIsNavigating } from "../../lib/browser/useIsNavigating.ts";
import { StartPipelineDocument } from "../../domain/start/start.generated.ts";
import { AgentChoices } from "./AgentChoices.tsx";
import { PipelinePageDocument } from "./pipelines.generated.ts";

/** What is typed goes into the address after a pause, so that a reload loses nothing. */
const SETTLE_MS = 300;
/** Longer texts do not fit an address. */
const LONGEST_IN_ADDRESS = 1500;

export function RunFormPage(): ReactNode {
  const { pipeline: id } = useParams({ from: "/pipelines/$pipeline/run" });
  // Texts and learned values of one pipeline do not apply to the next.
  return <RunForm key={id} id={id} />;
}

function RunForm({ id }: { id: string }): ReactNode {
  const search = useSearch({ from: "/pipelines/$pipeline/run" });
  const navigate = useNavigate({ from: "/pipelines/$pipeline/run" });
  const isNavigating = useIsNavigating();
  const [texts, setTexts] = useState(() => textsFrom(search));
  const [{ data, fetching, error, extensions }] = useQuery({ query: PipelinePageDocument, variables: { id } });
  const [, start] = useMutation(StartPipelineDocument);
  const learned = useLearned(id);
  const [agent, setAgent] = useState("");

  useEffect(() => {
    const timer = setTimeout(() => {
      const kept = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.length <= LONGEST_IN_ADDRESS));
      if (!isNavigating()) void navigate({ search: (shown: InputSearch) => withTexts(shown, kept), replace: true });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [texts, navigate, isNavigating]);

  async function go({ values, key, fields, fromMemory }: Start): Promise<Problem | null> {
    const answer = await start({
      pipeline: id,
      inputs: values,
      fromMemory,
      idempotencyKey: agent === "" ? key : `${key}-${agent}`,
      agent: agent === "" ? undefined : agent,
    });
    const result = answer.data?.runPipeline;
    if (answer.error !== undefined) return problemOfCommand(answer.error);
    if (result?.__typename !== "StartRunSuccess" || result.run === null) return problemOf(result ?? {}, fields);
    await navigate({ to: "/runs/$run", params: { run: result.run.id }, search: {} });
    return null;
  }

  const pipeline = data?.pipeline;
  if (pipeline === null && !fetching) {
    return <UnknownPipeline id={id} extensions={extensions} />;
  }
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
      title={`Run ${pipeline.name}`}
      lead={
        <p className="max-w-reading">
          <TextWithCode text={pipeline.metadata.typicalUse ?? pipeline.description} />{" "}
          <Link to="/pipelines/$pipeline" params={{ pipeline: pipeline.key }} className="link">
            View steps
          </Link>
        </p>
      }
    >
      {pipeline.availability.usable ? null : <MissingRequirements missing={pipeline.availability.missing} />}
      {pipeline.steps.some((step) => "candidates" in step) ? <AgentChoices chosen={agent} onChoose={setAgent} /> : null}
      <StartForm
        inputSchema={pipeline.inputSchema}
        texts={texts}
        onTexts={setTexts}
        onStart={go}
        word="Run"
        target={{ pipeline: pipeline.key }}
        agent={agent === "" ? undefined : agent}
        learned={learned}
      />
    </Page>
  );
}
