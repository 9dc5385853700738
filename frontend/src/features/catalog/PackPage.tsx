import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Code } from "../../components/Code.tsx";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { MissingRequirements } from "../../domain/entries/MissingRequirements.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../lib/server/problem.ts";
import { Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { type Start, StartForm } from "../../domain/start/StartForm.tsx";
import { UnknownPack } from "../../domain/entries/UnknownEntry.tsx";
import { Usage } from "../../domain/entries/Usage.tsx";
import { useLearned } from "../../domain/start/useLearned.ts";
import { duration } from "../../lib/text/format.ts";
import { textsFrom } from "../../domain/start/inputSearch.ts";
import { StartPackDocument } from "../../domain/start/start.generated.ts";
import { PackPageDocument, type PackPageQuery } from "./catalog.generated.ts";

type Pack = NonNullable<PackPageQuery["pack"]>;

const EFFECTS: Record<Pack["effects"], string> = {
  NONE: "None: it changes no external system.",
  IDEMPOTENT: "It changes an external system; repeating it causes no further change.",
  EXTERNAL: "It changes an external system each time it runs.",
};

export function PackPage(): ReactNode {
  const { pack: id } = useParams({ from: "/catalog/$pack" });
  const [{ data, fetching, error, extensions }] = useQuery({ query: PackPageDocument, variables: { id } });
  const pack = data?.pack;
  if (pack === null && !fetching) {
    return <UnknownPack id={id} extensions={extensions} />;
  }
  if (pack === undefined || pack === null)
    return (
      <LoadingOrProblem
        page="This pack cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  return <Whole pack={pack} />;
}

function Whole({ pack }: { pack: Pack }): ReactNode {
  const needs = [
    ...pack.credentials.map((name) => `credential ${name}`),
    ...pack.services.map((name) => `service ${name}`),
    ...pack.modelRoles.map((role) => `a model as ${role}`),
  ];
  return (
    <Page
      title={pack.name}
      lead={
        <p className="text-dense">
          pack · version {pack.version}
          {pack.metadata.practice ? " · for practice" : ""} ·{" "}
          <Kinds accepts={pack.metadata.accepts} produces={pack.metadata.produces} /> · <Usage usage={pack.usage} />
        </p>
      }
    >
      {pack.availability.usable ? null : <MissingRequirements missing={pack.availability.missing} />}
      <div className="grid gap-x-12 gap-y-6 lg:grid-cols-2">
        <div className="min-w-0">
          <div className="mb-5 max-w-reading space-y-2">
            {pack.description.split(/\n\s*\n/).map((paragraph) => (
              <p key={paragraph}>
                <TextWithCode text={paragraph} />
              </p>
            ))}
          </div>
          <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-4 gap-y-2 wrap-anywhere max-md:grid-cols-1 max-md:gap-y-0 [&>dt]:text-soft max-md:[&>dd]:mb-3">
            <dt>Use it when</dt>
            <dd>
              {pack.metadata.typicalUse === null ? (
                <NotSpecified>Not specified by the author.</NotSpecified>
              ) : (
                <TextWithCode text={pack.metadata.typicalUse} />
              )}
            </dd>
            {pack.metadata.exampleIntents.length === 0 ? null : (
              <>
                <dt>For example</dt>
                <dd>
                  {pack.metadata.exampleIntents.slice(0, 3).map((intent) => (
                    <p key={intent}>“{intent}”</p>
                  ))}
                </dd>
              </>
            )}
            <dt>Accepts</dt>
            <dd>
              <KindWords
                kinds={pack.metadata.accepts}
                derived={pack.metadata.derived.includes("accepts")}
                way="accepts"
              />
            </dd>
            <dt>Produces</dt>
            <dd>
              <KindWords
                kinds={pack.metadata.produces}
                derived={pack.metadata.derived.includes("produces")}
                way="produces"
              />
            </dd>
            <dt>External changes</dt>
            <dd>{EFFECTS[pack.effects]}</dd>
            <dt>Needs</dt>
            <dd>{needs.length === 0 ? "nothing" : needs.join(", ")}</dd>
            <dt>Cost</dt>
            <dd>{pack.costEstimate === null ? "nothing" : <TextWithCode text={pack.costEstimate} />}</dd>
            <dt>Duration here</dt>
            <dd>
              {pack.usage.medianDurationSeconds === null ? (
                <NotSpecified>unknown: no successful run here in the last 30 days</NotSpecified>
              ) : (
                `usually ${duration(pack.usage.medianDurationSeconds)}`
              )}
            </dd>
            <dt>Longest attempt</dt>
            <dd>{duration(pack.timeoutSeconds)}</dd>
            <dt>Limits</dt>
            <dd>
              {pack.metadata.limitations.length === 0 ? (
                <NotSpecified>None specified.</NotSpecified>
              ) : (
                <ul className="space-y-1">
                  {pack.metadata.limitations.map((limit) => (
                    <li key={limit}>
                      <TextWithCode text={limit} />
                    </li>
                  ))}
                </ul>
              )}
            </dd>
            {pack.postConditions.length === 0 ? null : (
              <>
                <dt>Checked after</dt>
                <dd>
                  {pack.postConditions.map((condition) => (
                    <p key={condition}>
                      <TextWithCode text={condition} />
                    </p>
                  ))}
                </dd>
              </>
            )}
            <dt>Comes from</dt>
            <dd className="font-mono text-dense wrap-anywhere">{pack.source.location}</dd>
            {pack.usedBy.nodes.length === 0 ? null : (
              <>
                <dt>Used by</dt>
                <dd className="flex flex-wrap gap-x-4">
                  {pack.usedBy.nodes.map(({ id, key, name }) => (
                    <Link key={id} to="/pipelines/$pipeline" params={{ pipeline: key }} className="link">
                      {name}
                    </Link>
                  ))}
                </dd>
              </>
            )}
          </dl>
          <details className="mt-5">
            <summary className="link w-fit">What it returns, as a JSON Schema</summary>
            <div className="mt-2">
              <Code text={JSON.stringify(pack.outputSchema, null, 2)} label="Output schema" />
            </div>
          </details>
        </div>
        <div className="min-w-0">
          <Section title="Try it">
            <TryIt key={pack.id} pack={pack} />
          </Section>
        </div>
      </div>
    </Page>
  );
}

/** A value the author did not specify. */
function NotSpecified({ children }: { children: ReactNode }): ReactNode {
  return <span className="text-soft italic">{children}</span>;
}

function KindWords({
  kinds,
  derived,
  way,
}: {
  kinds: readonly string[];
  derived: boolean;
  way: "accepts" | "produces";
}): ReactNode {
  if (kinds.length === 0) return <NotSpecified>Not specified by the author.</NotSpecified>;
  return (
    <>
      {kinds.map((kind) => (
        // What makes what this takes, and what takes what this makes.
        <Link
          key={kind}
          to="/catalog"
          search={way === "accepts" ? { produces: kind } : { accepts: kind }}
          className="link mr-3 inline-block"
          title={way === "accepts" ? "What produces it" : "What accepts it"}
        >
          {kind.replaceAll("_", " ")}
        </Link>
      ))}
      {derived ? <NotSpecified>derived from its schema</NotSpecified> : null}
    </>
  );
}

function TryIt({ pack }: { pack: Pack }): ReactNode {
  const search = useSearch({ from: "/catalog/$pack" });
  const [texts, setTexts] = useState(() => textsFrom(search));
  const [, start] = useMutation(StartPackDocument);
  const learned = useLearned(pack.id);
  const navigate = useNavigate();

  async function go({ values, key, fields, fromMemory }: Start): Promise<Problem | null> {
    const answer = await start({ pack: pack.id, input: values, fromMemory, idempotencyKey: key });
    const result = answer.data?.runPack;
    if (answer.error !== undefined) return problemOfCommand(answer.error);
    if (result?.__typename !== "StartRunSuccess" || result.run === null) return problemOf(result ?? {}, fields);
    await navigate({ to: "/runs/$run", params: { run: result.run.id } });
    return null;
  }

  return (
    <StartForm
      inputSchema={pack.inputSchema}
      texts={texts}
      onTexts={setTexts}
      onStart={go}
      word="Run this pack"
      target={{ pack: pack.id }}
      learned={learned}
    />
  );
}
