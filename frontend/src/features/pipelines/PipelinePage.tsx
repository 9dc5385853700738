import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Code } from "../../components/Code.tsx";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { MakeCopy } from "../../domain/entries/MakeCopy.tsx";
import { MissingRequirements } from "../../domain/entries/MissingRequirements.tsx";
import { withBase } from "../../lib/server/base.ts";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { RunTable } from "../../domain/runs/RunTable.tsx";
import { UnknownPipeline } from "../../domain/entries/UnknownEntry.tsx";
import { Usage } from "../../domain/entries/Usage.tsx";
import { count, humanise } from "../../lib/text/format.ts";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { PipelineTriggers } from "./PipelineTriggers.tsx";
import { PipelineTabs } from "./PipelineTabs.tsx";
import { PipelinePageDocument, type PipelinePageQuery } from "./pipelines.generated.ts";

type Pipeline = NonNullable<PipelinePageQuery["pipeline"]>;

export function PipelinePage(): ReactNode {
  const { pipeline: id } = useParams({ from: "/pipelines/$pipeline" });
  const [{ data, fetching, error, extensions }, again] = useQuery({ query: PipelinePageDocument, variables: { id } });
  useRunChanges(() => again({ requestPolicy: "network-only" }));
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
  return <Whole pipeline={pipeline} />;
}

function Whole({ pipeline }: { pipeline: Pipeline }): ReactNode {
  const { metadata, availability, currentVersion, actions } = pipeline;
  const [deleting, setDeleting] = useState(false);
  const facts = [pipeline.builtin ? "ships with Packline" : null, `version ${currentVersion.number}`]
    .filter((fact) => fact !== null)
    .join(" · ");
  const [first, ...rest] = pipeline.steps.map(({ retry }) => retry.maxAttempts);
  const tries = first ?? 1;
  const alike = rest.every((other) => other === tries);
  return (
    <Page
      title={pipeline.name}
      lead={
        <p className="text-dense">
          <span className="font-mono">{pipeline.key}</span> · {facts}
        </p>
      }
      actions={
        <>
          {actions.includes("DELETE") ? (
            <Button kind="quiet" onClick={() => setDeleting(true)}>
              Delete…
            </Button>
          ) : null}
          <Button kind="quiet" onClick={() => download(`${pipeline.key}.yaml`, withSchemaLine(currentVersion.yaml))}>
            Export YAML
          </Button>
          {actions.includes("UPDATE") ? (
            <ButtonLink to="/pipelines/$pipeline/edit" params={{ pipeline: pipeline.key }}>
              Edit
            </ButtonLink>
          ) : actions.includes("CLONE") ? (
            <MakeCopy pipelineId={pipeline.id} />
          ) : null}
          {availability.usable ? (
            <ButtonLink kind="primary" to="/pipelines/$pipeline/run" params={{ pipeline: pipeline.key }}>
              Run…
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <PipelineTabs pipeline={pipeline.key} />
      {availability.usable ? null : <MissingRequirements missing={availability.missing} />}
      <p className="mb-2 max-w-reading">
        <TextWithCode text={pipeline.description} />
      </p>
      <p className="mb-6 text-dense text-soft">
        {metadata.practice ? "for practice · " : ""}
        {metadata.accepts.length + metadata.produces.length === 0 ? null : (
          <>
            <Kinds accepts={metadata.accepts} produces={metadata.produces} /> ·{" "}
          </>
        )}
        <Usage usage={pipeline.usage} />
      </p>
      <Section
        title="Steps"
        more={
          <Link to="/pipelines/$pipeline/edit" params={{ pipeline: pipeline.key }} className="link text-dense">
            {actions.includes("UPDATE") ? "Edit them" : "View inputs"}
          </Link>
        }
      >
        <ol className="divide-y divide-line border-y border-line">
          {pipeline.steps.map((step) => (
            <StepRow key={step.key} step={step} tries={alike ? null : step.retry.maxAttempts} />
          ))}
        </ol>
        {alike && tries > 1 ? (
          <p className="mt-2 text-dense text-soft">Each step is tried up to {count(tries, "time")}.</p>
        ) : null}
      </Section>
      {metadata.limitations.length === 0 ? null : (
        <Section title="Limits">
          <ul className="max-w-reading list-disc space-y-1 pl-5">
            {metadata.limitations.map((limit) => (
              <li key={limit}>
                <TextWithCode text={limit} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <PipelineTriggers pipeline={pipeline.key} />
      <Section
        title="Last runs"
        more={
          <Link to="/runs" search={{ pipeline: pipeline.key }} className="link text-dense">
            View all
          </Link>
        }
      >
        {pipeline.runs.nodes.length === 0 ? (
          <Empty>It has not run here yet. Its newest runs are listed here.</Empty>
        ) : (
          <RunTable runs={pipeline.runs.nodes} label="Last runs" ofOne />
        )}
      </Section>
      <details>
        <summary className="link w-fit">Definition as YAML</summary>
        <div className="mt-2 flex justify-end">
          <CopyButton text={currentVersion.yaml} what="definition" />
        </div>
        <Code text={currentVersion.yaml} label="Definition as YAML" />
      </details>
      {deleting ? <DeleteDialog pipeline={pipeline} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

/** `a`, `b` and 3 more, as code. */
function listed(paths: readonly string[]): ReactNode {
  const shown = paths.length > 5 ? paths.slice(0, 4) : paths;
  return (
    <>
      {shown.map((path, index) => (
        <span key={path}>
          {index === 0 ? "" : ", "}
          <code className="code-in-text text-ink">{path === "" ? "all" : path}</code>
        </span>
      ))}
      {shown.length < paths.length ? (
        <span title={paths.join(", ")}> and {paths.length - shown.length} more</span>
      ) : null}
    </>
  );
}

/** Adds a first line that tells editors where this server has the JSON Schema of definitions, unless there is one. */
function withSchemaLine(yaml: string): string {
  if (/^\s*# yaml-language-server: \$schema=/u.test(yaml)) return yaml;
  return `# yaml-language-server: $schema=${window.location.origin}${withBase("/schema/pipeline.json")}\n${yaml}`;
}

/** Hands a text to the reader as a file. */
function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

type Agent = Extract<Pipeline["steps"][number], { candidates: unknown }>;

/** The files an agent step writes, and its limits. */
function agentWords({ outputs, stdoutTo, cache, requiredIsolation }: Agent): string {
  const files = [...new Set([...outputs, ...(stdoutTo === null ? [] : [stdoutTo])])];
  const words = [files.length === 0 ? "Writes no files." : `Writes ${files.join(", ")}.`];
  if (requiredIsolation !== null)
    words.push(`Only in isolation ${humanise(requiredIsolation.toLowerCase()).toLowerCase()}.`);
  if (cache) words.push("May reuse an earlier result.");
  return words.join(" ");
}

/** A step, what it uses and, where steps differ in it, how often it is tried. */
function StepRow({ step, tries }: { step: Pipeline["steps"][number]; tries: number | null }): ReactNode {
  const pack = "pack" in step ? step.pack : null;
  const agent = "candidates" in step ? step : null;
  const name =
    "packName" in step ? step.packName : agent === null ? null : `agent ${agent.candidates.join(" or ")}`.trim();
  const uses = new Map<string, string[]>();
  for (const { sourceStep, sourcePath } of step.references) {
    const source = sourceStep === null ? "the inputs" : humanise(sourceStep);
    uses.set(source, [...new Set([...(uses.get(source) ?? []), sourcePath])]);
  }
  return (
    <li className="grid grid-cols-[1.5rem_minmax(8rem,12rem)_minmax(8rem,12rem)_1fr] items-baseline gap-x-3 py-2 text-dense max-md:grid-cols-[1.5rem_1fr]">
      <span className="text-right text-soft">{step.position}</span>
      <span className="font-medium">{humanise(step.key)}</span>
      <span className="truncate max-md:col-start-2">
        {pack === null || name === null ? (
          <span className="font-mono text-soft">{name}</span>
        ) : (
          <Link to="/catalog/$pack" params={{ pack: pack.id }} className="link font-mono">
            {name}
          </Link>
        )}
      </span>
      <span className="text-soft max-md:col-start-2">
        {[...uses].map(([source, paths], index) => (
          <span key={source}>
            {index === 0 ? "Uses " : "; "}
            <span className="wrap-anywhere">{listed(paths)}</span> from {source}
          </span>
        ))}
        {uses.size === 0 ? "" : "."}
        {agent === null ? null : ` ${agentWords(agent)}`}
        {pack?.effects === "EXTERNAL" ? <span className="text-warn"> Changes an external system.</span> : null}
        {tries === null ? "" : tries > 1 ? ` Tried up to ${count(tries, "time")}.` : " Tried once."}
      </span>
    </li>
  );
}
