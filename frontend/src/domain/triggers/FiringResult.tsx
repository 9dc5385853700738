import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { OUTCOMES } from "./outcomes.ts";
import { StateMark } from "../runs/StateMark.tsx";
import type { FiringRowFragment } from "./triggers.generated.ts";

/** What a firing led to: the state of its run, which is linked, or why there is none. */
export function FiringResult({ firing }: { firing: FiringRowFragment }): ReactNode {
  const { word, icon, ink } = OUTCOMES[firing.outcome];
  if (firing.run !== null) {
    return (
      <Link
        to="/runs/$run"
        params={{ run: firing.run.id }}
        className="relative z-1 hover:underline"
        title={firing.run.title}
      >
        <StateMark state={firing.run.state} />
      </Link>
    );
  }
  return (
    <span className={`whitespace-nowrap ${ink}`} title={firing.reason?.replaceAll("`", "")}>
      <span aria-hidden="true">{icon}</span> <span className="font-medium">{word}</span>
    </span>
  );
}
