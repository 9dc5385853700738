import { Link } from "@tanstack/react-router";
import { Bot, Clock3, Link2, Repeat2, User, Webhook } from "lucide-react";
import type { ReactNode } from "react";

import type { RunCause, RunRowFragment } from "../fragments.generated.ts";
import { CAUSES, triggerKind } from "./states.ts";

const ICONS: Record<RunCause, typeof User> = {
  PERSON: User,
  AGENT: Bot,
  SCHEDULE: Clock3,
  WEBHOOK: Webhook,
  RUN_ENDED: Link2,
  RERUN: Repeat2,
  A2A: Bot,
};

/** Above the link that covers the row. */
const LINK = "link relative z-1 truncate";

/** Who or what started a run: the run or trigger behind it, which is linked, otherwise the caller. */
export function Starter({ run }: { run: RunRowFragment }): ReactNode {
  const Icon = ICONS[run.cause];
  const parent = run.endedRun ?? run.rerunOf;
  return (
    <span
      className="inline-flex max-w-full items-center gap-1.5 align-bottom"
      title={`Started by ${CAUSES[run.cause]}: ${run.caller.name}${run.clientName === null ? "" : ` (${run.clientName})`}`}
    >
      <Icon aria-hidden="true" className="size-3.5 shrink-0" />
      {parent !== null ? (
        <>
          <span className="sr-only">{run.cause === "RERUN" ? "re-run of" : "the end of"}</span>
          <Link to="/runs/$run" params={{ run: parent.id }} search={{}} className={LINK}>
            {parent.title}
          </Link>
        </>
      ) : run.trigger !== null ? (
        <>
          <span className="sr-only">the {triggerKind(run.cause)}</span>
          <Link to="/triggers/$trigger" params={{ trigger: run.trigger.id }} search={{}} className={LINK}>
            {run.trigger.name}
          </Link>
        </>
      ) : (
        <>
          <span className="sr-only">{CAUSES[run.cause]},</span>
          <span className="truncate">{run.caller.name}</span>
        </>
      )}
    </span>
  );
}
