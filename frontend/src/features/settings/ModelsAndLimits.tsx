import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Section } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { bytes, count, duration, humanise } from "../../lib/text/format.ts";
import type { ModelPartsFragment, ModelsAndLimitsQuery } from "./settings.generated.ts";

type Limits = ModelsAndLimitsQuery["server"]["runLimits"];

/** Models by role, agent profiles, limits and retention. */
export function ModelsAndLimits({ data, agents }: { data: ModelsAndLimitsQuery; agents: ReactNode }): ReactNode {
  return (
    <>
      <Section title="Models">
        {data.modelRoles.length === 0 ? (
          <p className="text-soft">No model is configured.</p>
        ) : (
          <ul className="divide-y divide-line border-y border-line text-dense">
            {data.modelRoles.map(({ role, chain }) => (
              <li key={role} className="flex min-h-9 gap-4 py-2 max-md:flex-col max-md:gap-1">
                <span className="w-32 shrink-0 font-medium">{humanise(role)}</span>
                <span className="min-w-0 flex-1 space-y-1">
                  {chain.length === 0 ? (
                    <span className="text-soft">none is set</span>
                  ) : (
                    chain.map((model) => <ModelLine key={model.key} model={model} />)
                  )}
                  <Replaced chain={chain} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      {agents}
      {data.budgets.length === 0 ? null : (
        <Section title="Budgets this month">
          <ul className="divide-y divide-line border-y border-line text-dense">
            {data.budgets.map((budget) => (
              <li key={budget.setting} className="flex min-h-9 gap-4 py-2 max-md:flex-col max-md:gap-1">
                <span className="w-32 shrink-0 font-medium">{budget.ofCaller ? "Yours" : "All callers"}</span>
                <span className="min-w-0 flex-1">
                  {budget.message}
                  {budget.nearlySpent ? (
                    <span className="block text-warn">
                      Models are no longer called once it is spent. <code>{budget.setting}</code> limits it.
                    </span>
                  ) : null}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Limits and retention">
        <dl className="grid grid-cols-[minmax(10rem,18rem)_1fr] gap-x-4 max-md:grid-cols-[3fr_2fr] gap-y-1.5 text-dense [&>dt]:text-soft">
          {rowsOf(data.server.runLimits).map(([term, value]) => (
            <div key={term} className="contents">
              <dt className="text-soft">{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </Section>
    </>
  );
}

/** What serves a role whose first model cannot be used. */
function Replaced({ chain }: { chain: readonly ModelPartsFragment[] }): ReactNode {
  const [first] = chain;
  if (first === undefined || first.availability.usable) return null;
  const used = chain.find(({ availability }) => availability.usable);
  return (
    <span className="block text-warn">
      {used === undefined ? (
        "No model of this role can be used. Packs that can work without a model do so; others cannot run."
      ) : (
        <>
          <span className="font-mono">{used.key}</span> is used instead of{" "}
          <span className="font-mono">{first.key}</span>.
        </>
      )}
    </span>
  );
}

function ModelLine({ model }: { model: ModelPartsFragment }): ReactNode {
  const missing = model.availability.missing[0];
  return (
    <span className="block">
      <span className="font-mono">{model.key}</span>{" "}
      {model.availability.usable ? (
        <span className="text-ok">
          <span aria-hidden="true">✓</span> can be used
        </span>
      ) : (
        <span className="text-soft">
          {missing === undefined ? "cannot be used" : <TextWithCode text={missing.message} />}{" "}
          {missing?.kind === "CREDENTIAL" ? (
            <Link to="/credentials" search={{ need: missing.name, return: "/settings" }} className="link">
              Add credential
            </Link>
          ) : (
            <TextWithCode text={missing?.hint ?? ""} />
          )}
        </span>
      )}
    </span>
  );
}

function rowsOf(limits: Limits): [string, string][] {
  return [
    ["Default deadline of a run", duration(limits.deadlineSeconds)],
    ["Default timeout of a step", duration(limits.stepTimeoutSeconds)],
    ["Steps of a pipeline", String(limits.steps)],
    ["Concurrent runs per caller", limits.concurrentRuns.toLocaleString()],
    ["Queued runs per caller", limits.queuedRuns.toLocaleString()],
    ["Input and output of a step", `${bytes(limits.stepInputBytes)} and ${bytes(limits.stepOutputBytes)}`],
    ["First and last part of a transcript", `${bytes(limits.transcriptBytes)} each`],
    ["One uploaded file", bytes(limits.uploadBytes)],
    ["Idle session expires after", duration(limits.sessionIdleSeconds)],
    ["Finished runs are kept", `${count(limits.runDays, "day")}, at most ${limits.runCount.toLocaleString()}`],
    ["Files are kept after success", count(limits.artifactDays, "day")],
  ];
}
