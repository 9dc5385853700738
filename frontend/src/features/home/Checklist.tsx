import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Button } from "../../components/Button.tsx";
import { completedItems, type Known } from "./checklist.ts";

const NOTHING: Known = { byAgent: { nodes: [] }, mine: { nodes: [] }, modelRoles: [] };

/** The checklist after the sample run. Until it is known what is done, only its space, so that nothing moves. */
export function Checklist({ known, onDismiss }: { known: Known | undefined; onDismiss: () => void }): ReactNode {
  const done = completedItems(known ?? NOTHING);
  return (
    <section
      aria-labelledby="checklist"
      className={`mb-8 max-w-2xl rounded-lg border border-line px-5 py-4 ${known === undefined ? "invisible" : ""}`}
    >
      <div className="flex items-center justify-between gap-4">
        <h2 id="checklist">{done.agent && done.model && done.pipeline ? "All done" : "Next steps"}</h2>
        <Button kind="quiet" onClick={onDismiss}>
          Dismiss
        </Button>
      </div>
      <ul className="mt-1">
        <Line
          done={done.agent}
          to={{ to: "/connect" }}
          word="Connect an agent"
          more="copy one line into its settings"
        />
        <Line
          done={done.model}
          to={{ to: "/credentials", search: { need: "openai", return: "/" } }}
          word="Add a model key"
          more="for packs that need a language model"
        />
        <Line
          done={done.pipeline}
          to={{ to: "/pipelines/new", search: { from: "builtin.sample" } }}
          word="Make your own pipeline"
          more="from a copy of the sample"
        />
      </ul>
    </section>
  );
}

function Line({ done, to, word, more }: { done: boolean; to: LinkProps; word: string; more: string }): ReactNode {
  return (
    <li className="row flex items-baseline gap-2 py-1">
      <span aria-hidden="true" className={`w-4 shrink-0 text-center ${done ? "text-ok" : "text-idle"}`}>
        {done ? "✓" : "○"}
      </span>
      <span>
        <Link {...to} className="link font-medium">
          {word}
        </Link>
        <span className="text-soft">
          {" "}
          · {more}
          {done ? " · done" : ""}
        </span>
      </span>
    </li>
  );
}
