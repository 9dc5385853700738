import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { Code } from "../../components/Code.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Empty } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { OUTCOMES } from "../../domain/triggers/outcomes.ts";
import { StateMark } from "../../domain/runs/StateMark.tsx";
import { bytes } from "../../lib/text/format.ts";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { type DeliveredFiringFragment, ReplayFiringDocument } from "./triggers.generated.ts";

/** Payloads of deliveries, which are loaded once somebody wants to see one. */
export interface Payloads {
  loading: boolean;
  onWanted: () => void;
}

interface Props {
  firings: readonly DeliveredFiringFragment[];
  ofWebhook: boolean;
  payloads: Payloads;
  /** Called after a replay whose run the caller may not see. Null if the caller may not replay. */
  onReplayed: (() => void) | null;
}

/** Firings of a trigger: when, what each led to, and why; those of a webhook with what it received. */
export function Firings({ firings, ofWebhook, payloads, onReplayed }: Props): ReactNode {
  if (firings.length === 0) return <Empty>It has not fired yet. Each firing is listed here with its run.</Empty>;
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label="Firings">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-44">{ofWebhook ? "Time" : "Due"}</th>
          <th className="w-36">Outcome</th>
          <th>Run or reason</th>
          <th className="w-32">State of the run</th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {firings.flatMap((firing) => [
          <Row key={firing.id} firing={firing} ofWebhook={ofWebhook} />,
          ...(firing.delivery === null
            ? []
            : [
                <DeliveryRow
                  key={`${firing.id} delivery`}
                  firing={firing.id}
                  delivery={firing.delivery}
                  payloads={payloads}
                  onReplayed={onReplayed}
                />,
              ]),
        ])}
      </tbody>
    </table>
  );
}

function Row({ firing, ofWebhook }: { firing: DeliveredFiringFragment; ofWebhook: boolean }): ReactNode {
  const { scheduledAt, createdAt, outcome, reason, run, delivery, endedRun } = firing;
  const { word, icon, ink } = OUTCOMES[outcome];
  return (
    <tr
      className={`row group relative border-line hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 max-md:[&>td]:pr-0 ${delivery === null ? "border-b" : ""}`}
    >
      <td>
        <Timestamp at={scheduledAt ?? createdAt} relative />
        {scheduledAt === null && endedRun === null && !ofWebhook ? (
          <span className="text-soft"> on request</span>
        ) : null}
      </td>
      <td className={ink}>
        <span aria-hidden="true">{icon}</span> <span className="font-medium">{word}</span>
      </td>
      <td className="max-md:w-full">
        {run === null ? (
          <span className="text-soft wrap-anywhere">
            {reason === null ? outcome === "FIRED" ? "The run was deleted." : "" : <TextWithCode text={reason} />}
          </span>
        ) : (
          <Link
            to="/runs/$run"
            params={{ run: run.id }}
            className="block truncate font-medium text-ink after:absolute after:inset-0 group-hover:underline"
            title={run.title}
          >
            {run.title}
          </Link>
        )}
        {endedRun === null ? null : (
          <span className="block truncate text-meta text-soft">
            after{" "}
            <Link to="/runs/$run" params={{ run: endedRun.id }} search={{}} className="link relative z-10">
              {endedRun.title}
            </Link>
          </span>
        )}
      </td>
      <td>{run === null ? null : <StateMark state={run.state} />}</td>
    </tr>
  );
}

interface DeliveryProps extends Pick<Props, "payloads" | "onReplayed"> {
  /** The id of its firing. */
  firing: string;
  delivery: NonNullable<DeliveredFiringFragment["delivery"]>;
}

/** What a webhook received, folded, and the button that starts a run for it again. */
function DeliveryRow({ firing, delivery, payloads, onReplayed }: DeliveryProps): ReactNode {
  const { deliveryId, event, sizeBytes, keptUntil } = delivery;
  const navigate = useNavigate();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, replay] = useMutation(ReplayFiringDocument);

  async function replayIt(after: () => void): Promise<void> {
    const answer = await replay({ id: firing });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.replayFiring, "FireTriggerSuccess");
    setProblem(refusal);
    if (done?.run) await navigate({ to: "/runs/$run", params: { run: done.run.id }, search: {} });
    else after();
  }

  return (
    <tr className="border-b border-line max-md:block">
      <td colSpan={4} className="pb-1.5 max-md:block">
        <div className="flex items-baseline justify-between gap-4">
          <details
            className="min-w-0 grow"
            onToggle={(change) => {
              if (change.currentTarget.open) payloads.onWanted();
            }}
          >
            <summary className="w-fit text-soft hover:text-ink">
              Delivery{event === null ? "" : ` of ${event}`}, {bytes(sizeBytes)}
            </summary>
            <div className="mt-1 mb-2 space-y-2">
              <p className="text-meta text-soft wrap-anywhere">
                {deliveryId === null ? "The sender gave no id. " : `Id ${deliveryId}. `}
                Packline keeps it until <Timestamp at={keptUntil} />.
              </p>
              <Payload delivery={delivery} loading={payloads.loading} label={`Payload of ${deliveryId ?? firing}`} />
            </div>
          </details>
          {onReplayed === null ? null : (
            <Button
              kind="quiet"
              className="!py-0.5 !text-dense"
              disabled={fetching}
              onClick={() => void replayIt(onReplayed)}
            >
              Replay
            </Button>
          )}
        </div>
        <Notice problem={problem} />
      </td>
    </tr>
  );
}

function Payload({
  delivery: { payload, isCut, sizeBytes },
  loading,
  label,
}: Pick<DeliveryProps, "delivery"> & { loading: boolean; label: string }): ReactNode {
  if (payload === undefined || payload === null)
    return (
      <p className="text-soft">
        {loading ? "Loading…" : "It cannot be opened: the vault is locked, or its key was changed."}
      </p>
    );
  return (
    <>
      <Code text={payload} label={label} />
      <p className="text-meta text-soft">
        {isCut ? `The first part of ${bytes(sizeBytes)}. ` : ""}Secrets are masked.{" "}
        <CopyButton text={payload} what="payload" />
      </p>
    </>
  );
}
