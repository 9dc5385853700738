import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useMutation, useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { MissingRequirements } from "../../domain/entries/MissingRequirements.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem, problemOfError } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { type Start, StartForm } from "../../domain/start/StartForm.tsx";
import { useLearned } from "../../domain/start/useLearned.ts";
import { own } from "../../lib/json/untrusted.ts";
import { StartPackDocument, StartPipelineDocument } from "../../domain/start/start.generated.ts";
import { AskEntryDocument } from "./ask.generated.ts";
import {
  type Choice,
  fitWords,
  type RouteAnswer,
  sourceWords,
  type Suggested,
  suggestedFor,
  textsOfSuggested,
} from "./routing.ts";

interface Props {
  answer: RouteAnswer;
  choice: Choice;
  isOpen: boolean;
  onToggle: () => void;
}

/** An answer: one line when folded, a prefilled form when open. */
export function AnswerRow({ answer, choice, isOpen, onToggle }: Props): ReactNode {
  const id = useId();
  const [{ data, error }] = useQuery({
    query: AskEntryDocument,
    variables: { id: choice.id, isPack: choice.kind === "PACK" },
  });
  const entry = data?.pipeline ?? data?.pack ?? null;
  const missing = entry?.availability.missing ?? [];
  return (
    <li className="py-2">
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          className="row flex w-full flex-wrap items-baseline gap-x-3 rounded px-2 py-1 text-left hover:bg-hover"
        >
          <span aria-hidden="true" className={isOpen ? "text-accent" : "text-idle"}>
            {isOpen ? "●" : "○"}
          </span>
          <span className={`font-medium ${choice.kind === "PACK" ? "font-mono text-dense" : ""}`}>
            {entry?.name ?? choice.id}
          </span>
          <span className="text-dense font-normal text-soft">
            {fitWords(choice.confidence)}
            {entry === null ? null : (
              <>
                {" · "}
                <Kinds accepts={entry.metadata.accepts} produces={entry.metadata.produces} />
              </>
            )}
          </span>
          {missing.length === 0 ? null : <span className="text-dense font-normal text-warn">cannot run here yet</span>}
        </button>
      </h3>
      <div id={id} className="pr-2 pl-8 max-md:pl-2">
        <p className={isOpen ? "max-w-reading text-dense" : "truncate text-dense text-soft"}>
          {isOpen ? <span className="text-soft">Why: </span> : null}
          <TextWithCode text={choice.why} />
        </p>
        {isOpen && error !== undefined ? <Notice problem={problemOfError(error)} /> : null}
        {isOpen && missing.length > 0 ? <MissingRequirements missing={missing} /> : null}
        {isOpen && entry !== null ? (
          <Ready
            choice={choice}
            inputSchema={entry.inputSchema}
            suggested={suggestedFor(choice)}
            wanted={choice.missingInputs}
            decidedBy={answer.decidedBy}
            pipeline={data?.pipeline?.key ?? null}
          />
        ) : null}
      </div>
    </li>
  );
}

interface ReadyProps {
  choice: Choice;
  inputSchema: unknown;
  suggested: Readonly<Record<string, Suggested>>;
  /** Inputs still without a value. */
  wanted: readonly string[];
  decidedBy: string;
  pipeline: string | null;
}

function Ready({ choice, inputSchema, suggested, wanted, decidedBy, pipeline }: ReadyProps): ReactNode {
  const [filled] = useState(() => textsOfSuggested(inputSchema, suggested));
  const learned = useLearned(choice.id);
  const [texts, setTexts] = useState(filled);
  const [, startPack] = useMutation(StartPackDocument);
  const [, startPipeline] = useMutation(StartPipelineDocument);
  const navigate = useNavigate();

  async function go({ values, key: idempotencyKey, fields, fromMemory }: Start): Promise<Problem | null> {
    const { done, refusal } =
      choice.kind === "PACK"
        ? await startPack({ pack: choice.id, input: values, fromMemory, idempotencyKey }).then(({ data, error }) =>
            outcomeOf(error, data?.runPack, "StartRunSuccess", fields),
          )
        : await startPipeline({ pipeline: choice.id, inputs: values, fromMemory, idempotencyKey }).then(
            ({ data, error }) => outcomeOf(error, data?.runPipeline, "StartRunSuccess", fields),
          );
    if (done?.run != null) await navigate({ to: "/runs/$run", params: { run: done.run.id }, search: {} });
    return refusal;
  }

  const notes = new Map<string, ReactNode>();
  for (const name of wanted) if ((own(texts, name) ?? "") === "") notes.set(name, "still needed");
  for (const [name, { source }] of Object.entries(suggested)) {
    const words = sourceWords(source, decidedBy);
    const text = own(texts, name) ?? "";
    if (words !== null && text !== "" && text === own(filled, name)) notes.set(name, `✎ ${words}`);
  }
  return (
    <div className="mt-3 mb-2">
      <StartForm
        inputSchema={inputSchema}
        texts={texts}
        onTexts={setTexts}
        learned={learned}
        notes={Object.fromEntries(notes)}
        first={[...wanted, ...Object.keys(suggested), ...Object.keys(learned.usual)]}
        onStart={go}
        word="Run"
        beside={
          pipeline === null ? (
            <ButtonLink to="/catalog/$pack" params={{ pack: choice.id }}>
              View pack
            </ButtonLink>
          ) : (
            <ButtonLink to="/pipelines/$pipeline" params={{ pipeline }}>
              View steps
            </ButtonLink>
          )
        }
      />
    </div>
  );
}
