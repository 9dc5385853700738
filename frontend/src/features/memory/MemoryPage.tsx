import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { FilterSelect } from "../../components/Filters.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem, problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { count, total } from "../../lib/text/format.ts";
import { Choices, type ChangeRule } from "./Choices.tsx";
import { Evidence } from "./Evidence.tsx";
import { ForgetEverything } from "./ForgetEverything.tsx";
import { useForgetting } from "./forgetting.ts";
import {
  ForgetMemoryDocument,
  MemoryCallersDocument,
  MemoryDocument,
  SetDefaultDocument,
  SetLearningDocument,
} from "./memory.generated.ts";

export function MemoryPage(): ReactNode {
  const search = useSearch({ from: "/memory" });
  const navigate = useNavigate({ from: "/memory" });
  const caller = search.caller ?? null;
  const [{ data, fetching, error }, ask] = useQuery({
    query: MemoryDocument,
    variables: { caller, scope: "all", ...pageArguments(search) },
  });
  const manages = data?.viewer.scopes.includes("MANAGE") ?? false;
  const [{ data: callers }] = useQuery({ query: MemoryCallersDocument, pause: !manages });
  const [, forget] = useMutation(ForgetMemoryDocument);
  const [, setDefault] = useMutation(SetDefaultDocument);
  const [, setLearning] = useMutation(SetLearningDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [clearing, setClearing] = useState(false);
  const again = () => ask({ requestPolicy: "network-only" });
  const { pending, begin, undo } = useForgetting(async (scope) => {
    const answer = await forget({ scope, caller, dryRun: false });
    setProblem(outcomeOf(answer.error, answer.data?.forgetMemory, "ForgetMemorySuccess").refusal);
    again();
  });

  const settle: ChangeRule = (target, field, rule, value) => {
    void setDefault({ target, field, rule, value, caller }).then((answer) => {
      setProblem(outcomeOf(answer.error, answer.data?.setDefault, "DefaultsSuccess").refusal);
      again();
    });
  };

  async function pause(paused: boolean): Promise<void> {
    const answer = await setLearning({ paused, caller });
    setProblem(outcomeOf(answer.error, answer.data?.setLearning, "DefaultsSuccess").refusal);
    again();
  }

  if (data === undefined) {
    return (
      <Page title="Memory">
        <AdminNav />
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      </Page>
    );
  }
  const { myDefaults: usual, memoryEntries: evidence, viewer } = data;
  const isOther = usual.caller.id !== viewer.id;
  const whose = isOther ? `${usual.caller.name}'s` : "your";
  const groups = [...usual.pipelines, ...usual.packs].filter(
    ({ target }) =>
      pending === null ||
      (pending.scope !== "all" && pending.scope !== `pipeline:${target}` && pending.scope !== `pack:${target}`),
  );
  const habits = groups.filter(({ values }) => values.length > 0);
  const others = groups.filter(({ values }) => values.length === 0);
  const rows = evidence.nodes.filter(
    ({ id }) => pending === null || (pending.scope !== "all" && pending.scope !== `entry:${id}`),
  );
  return (
    <Page
      title="Memory"
      lead={
        evidence.totalCount === 0
          ? "Packline learns your usual choices from successful runs and suggests them when you start the next one."
          : `Suggested from ${whose} last 30 days of runs. You always see a suggestion before it is used.`
      }
      actions={
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={!usual.learningPaused}
            onChange={(event) => void pause(!event.target.checked)}
          />
          Learn from runs
        </label>
      }
    >
      <AdminNav />
      {manages ? (
        <div className="mb-4">
          <FilterSelect
            label="Whose"
            none="Whose: yours"
            value={search.caller}
            choices={(callers?.callers.nodes ?? [])
              .filter(({ id }) => id !== viewer.id)
              .map(({ id, name }) => [id, name] as const)}
            onChange={(chosen) => void navigate({ search: { caller: chosen } })}
          />
        </div>
      ) : null}
      {isOther ? (
        <div
          role="status"
          className="mb-4 flex flex-wrap items-center justify-between gap-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2"
        >
          <p>
            You are looking at the memory of {usual.caller.name}. Your changes apply to them and are recorded in the
            audit.
          </p>
          <Button onClick={() => void navigate({ search: {} })}>Back to my own</Button>
        </div>
      ) : null}
      {usual.locked === null ? null : (
        <Notice
          problem={{ message: "What was learned cannot be read.", hint: usual.locked, details: [], fields: {} }}
        />
      )}
      <Notice problem={problem} />
      {pending === null ? null : (
        <div
          role="status"
          className="mb-4 flex flex-wrap items-center justify-between gap-3 rounded border border-line bg-panel px-3 py-2"
        >
          <p>Forgetting {pending.what}: done in ten seconds, or when you leave this page.</p>
          <Button onClick={undo}>Undo</Button>
        </div>
      )}
      <Section title="Usual choices">
        {habits.length === 0 ? (
          <Empty>
            There are no suggestions yet. A value appears here after two successful runs use it, and Packline fills it
            in when you next start the pipeline or pack.
          </Empty>
        ) : (
          habits.map((entry) => (
            <Choices
              key={entry.target}
              entry={entry}
              onSettle={settle}
              onForget={(scope, what) => begin({ scope, what })}
            />
          ))
        )}
        {others.length === 0 ? null : (
          <details className="mb-2">
            <summary className="link w-fit">
              {count(others.length, "pack or pipeline", "packs and pipelines")} without suggestions
            </summary>
            {others.map((entry) => (
              <Choices
                key={entry.target}
                entry={entry}
                onSettle={settle}
                onForget={(scope, what) => begin({ scope, what })}
              />
            ))}
          </details>
        )}
      </Section>
      <Section
        title="Evidence"
        more={
          evidence.totalCount === 0 ? null : (
            <button type="button" className="link" onClick={() => setClearing(true)}>
              Forget everything…
            </button>
          )
        }
      >
        <p className="mb-2 text-dense text-soft">
          Packline keeps only short fields such as persona or theme, encrypted, for 30 days. Forgetting them does not
          affect runs, artifacts, caches, credentials, or pinned and excluded values.
        </p>
        {rows.length === 0 ? (
          <Empty>There are no entries. The runs and steps that suggestions are drawn from are listed here.</Empty>
        ) : (
          // Open while its pages are turned.
          <details open={search.after !== undefined || search.before !== undefined}>
            <summary className="link w-fit">{total(evidence.totalCount, "run or step", "runs and steps")}</summary>
            <div className="mt-2">
              <Evidence rows={rows} onForget={(scope, what) => begin({ scope, what })} />
              <Pager info={evidence.pageInfo} place={search} />
            </div>
          </details>
        )}
      </Section>
      {clearing ? (
        <ForgetEverything
          rows={evidence.totalCount}
          whose={isOther ? `of ${usual.caller.name}` : "of yours"}
          onClose={() => setClearing(false)}
          onForget={() => {
            setClearing(false);
            begin({ scope: "all", what: "everything" });
          }}
        />
      ) : null}
    </Page>
  );
}
