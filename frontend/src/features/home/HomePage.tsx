import { Link, useNavigate } from "@tanstack/react-router";
import { ListChecks, Package, Workflow } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../lib/server/problem.ts";
import { LoadingOrProblem, Page, Section } from "../../components/Page.tsx";
import { RunTable } from "../../domain/runs/RunTable.tsx";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { Checklist } from "./Checklist.tsx";
import { dismiss, isDismissed } from "./checklist.ts";
import { ChecklistDocument, HomeDocument, RunSampleDocument } from "./home.generated.ts";

/** `ask` is the ask box, which is a separate feature. */
export function HomePage({ ask }: { ask: ReactNode }): ReactNode {
  const [{ data, fetching, error }, again] = useQuery({ query: HomeDocument });
  const [dismissed, setDismissed] = useState(isDismissed);
  const [checklist] = useQuery({ query: ChecklistDocument, pause: dismissed });
  useRunChanges(() => again({ requestPolicy: "network-only" }));
  if (data === undefined)
    return (
      <LoadingOrProblem page="Home" fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
    );
  const fresh = data.attention.nodes.length + data.now.nodes.length + data.recent.nodes.length === 0;
  if (fresh) return <FirstRun ask={ask} />;
  return (
    <Page title="Home">
      {ask}
      {dismissed || (checklist.error !== undefined && checklist.data === undefined) ? null : (
        <Checklist
          known={checklist.data}
          onDismiss={() => {
            dismiss();
            setDismissed(true);
          }}
        />
      )}
      {data.attention.nodes.length === 0 ? (
        <p className="mb-8 text-soft">Nothing needs your attention.</p>
      ) : (
        <Section
          title="Needs attention"
          more={
            data.attention.pageInfo.hasNextPage ? (
              <Link to="/runs" search={{ view: "attention" }} className="link text-dense">
                View all
              </Link>
            ) : null
          }
        >
          <RunTable runs={data.attention.nodes} label="Runs that need attention" />
        </Section>
      )}
      {data.now.nodes.length === 0 ? null : (
        <Section
          title="Running now"
          more={
            data.now.pageInfo.hasNextPage ? (
              <Link to="/runs" search={{ view: "running" }} className="link text-dense">
                View all
              </Link>
            ) : null
          }
        >
          <RunTable runs={data.now.nodes} label="Runs in progress" />
        </Section>
      )}
      {data.recent.nodes.length === 0 ? null : (
        <Section
          title="Recent"
          more={
            <Link to="/runs" className="link text-dense">
              All runs
            </Link>
          }
        >
          <RunTable runs={data.recent.nodes} label="Recent runs" />
        </Section>
      )}
    </Page>
  );
}

/** The first thing a newcomer does: a run that teaches Resume. */
function FirstRun({ ask }: { ask: ReactNode }): ReactNode {
  const [{ fetching }, start] = useMutation(RunSampleDocument);
  const [key] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join("-"));
  const [problem, setProblem] = useState<Problem | null>(null);
  const navigate = useNavigate();

  async function go(): Promise<void> {
    const answer = await start({ idempotencyKey: key });
    const result = answer.data?.runPipeline;
    if (answer.error !== undefined) setProblem(problemOfCommand(answer.error));
    else if (result?.__typename === "StartRunSuccess" && result.run !== null)
      await navigate({ to: "/runs/$run", params: { run: result.run.id } });
    else setProblem(problemOf(result ?? {}));
  }

  return (
    <Page
      title="Welcome to Packline"
      lead={
        <p className="max-w-reading text-section">
          Packline runs pipelines for people and AI agents: it records every step, and continues a failed run at the
          step that failed.
        </p>
      }
    >
      <section
        aria-label="First run"
        className="mt-6 grid max-w-4xl gap-x-10 gap-y-6 rounded-lg border border-line p-8 max-md:p-5 md:grid-cols-[3fr_2fr]"
      >
        <div>
          <h2 className="text-hero">See it work</h2>
          <p className="mt-3 text-soft">
            The sample turns a text that ships with this installation into a PDF slide deck. No key, no network, about
            five seconds.
          </p>
          <p className="mt-2 text-soft">
            Its third step fails the first time, on purpose. Press Resume to see that the first two steps are reused.
          </p>
          <Notice problem={problem} />
          <div className="mt-6">
            <Button kind="primary" disabled={fetching} onClick={() => void go()}>
              Run the sample
            </Button>
          </div>
        </div>
        <dl className="space-y-3 border-line text-dense max-md:border-t max-md:pt-5 md:border-l md:pl-8">
          {TERMS.map(({ word, says, Icon }) => (
            <div key={word}>
              <dt className="flex items-center gap-2 font-medium">
                <Icon aria-hidden="true" className="size-4 text-accent" />
                {word}
              </dt>
              <dd className="mt-0.5 text-soft">{says}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section aria-label="Ask" className="mt-8">
        <h2 className="mb-2">Or describe what you want done</h2>
        {ask}
        <ul aria-label="Examples that need no key" className="-mt-4 mb-8 flex flex-wrap items-center gap-2 text-dense">
          <li className="text-soft">Works without a key:</li>
          {EXAMPLES.map((example) => (
            <li key={example}>
              <Link
                to="/"
                search={{ ask: example }}
                className="inline-block rounded border border-line px-2.5 py-1 hover:bg-hover pointer-coarse:py-2.5"
              >
                {example}
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <p className="text-soft">
        Or choose from{" "}
        <Link to="/pipelines" className="link">
          the pipelines
        </Link>{" "}
        that ship with Packline.
      </p>
    </Page>
  );
}

const TERMS = [
  { word: "Pack", says: "One tool, such as reading a PDF or drawing slides.", Icon: Package },
  { word: "Pipeline", says: "Packs in a fixed order. Each step can use the results of earlier ones.", Icon: Workflow },
  { word: "Run", says: "One execution of a pipeline, with the input, output and log of each step.", Icon: ListChecks },
];

/** Requests that packs answer which need neither a key nor a model. */
const EXAMPLES = ["Turn a PDF into slides", "Turn a document into a blog post", "Save a web page as Markdown"];
