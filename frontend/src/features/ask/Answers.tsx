import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { AnswerRow } from "./AnswerRow.tsx";
import { BY_WORDS, type Choice, type RouteAnswer } from "./routing.ts";
import { GapCards } from "./GapCard.tsx";

interface Props {
  answer: RouteAnswer;
  request: string;
  choices: readonly Choice[];
  /** Which one is open; -1 for none. */
  open: number;
  onOpen: (index: number) => void;
}

/** At most three answers, one open and ready to run, and what is missing here. */
export function Answers({ answer, request, choices, open, onOpen }: Props): ReactNode {
  const nothing = answer.recommendation.id === null;
  const gaps = answer.gapWarnings;
  return (
    <section aria-label="Answers" className="mt-2">
      {nothing && gaps.length === 0 ? <p className="py-2">{answer.recommendation.why}</p> : null}
      {nothing ? <GapCards gaps={gaps} request={request} answer={answer} /> : null}
      {choices.length === 0 ? null : (
        <>
          {nothing ? <h3 className="mt-4 mb-1">Closest matches</h3> : null}
          <ol className="divide-y divide-line border-y border-line">
            {choices.map((choice, index) => (
              <ContentBoundary key={choice.id} what="An answer" of={[choice, index === open]}>
                <AnswerRow
                  answer={answer}
                  choice={choice}
                  isOpen={index === open}
                  onToggle={() => onOpen(index === open ? -1 : index)}
                />
              </ContentBoundary>
            ))}
          </ol>
        </>
      )}
      {nothing ? null : <GapCards gaps={gaps} request={request} answer={answer} />}
      <details className="mt-2 text-meta text-soft">
        <summary className="w-fit cursor-pointer">
          {answer.decidedBy === BY_WORDS ? "Matched by keywords only" : `Chosen by ${answer.decidedBy}`}
        </summary>
        <p className="mt-1 max-w-reading">{answer.reasoning}</p>
        {answer.decidedBy === BY_WORDS ? (
          <p className="mt-1">
            With a model, requests are matched by meaning:{" "}
            <Link to="/settings" className="link">
              models in the settings
            </Link>
            .
          </p>
        ) : null}
      </details>
      <p role="status" className="sr-only">
        {open < 0 ? `${choices.length} answers` : `Answer ${open + 1} of ${choices.length} is open`}
      </p>
    </section>
  );
}
