import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { SearchBox } from "../../components/Filters.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import {
  type CredentialRowFragment,
  GrantChoicesDocument,
  type GrantTargetFragment,
  SetCredentialDocument,
} from "./credentials.generated.ts";

interface Props {
  credential: CredentialRowFragment & { grants: readonly GrantTargetFragment[] };
}

/** Who may use a credential: packs, pipelines and callers, nobody by default. */
export function Grants({ credential }: Props): ReactNode {
  const { grants, neededBy } = credential;
  const [{ fetching }, set] = useMutation(SetCredentialDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asking = neededBy.filter(({ id }) => !grants.some((grant) => grant.id === id));

  async function change(which: { addGrants?: string[]; removeGrants?: string[] }): Promise<boolean> {
    const answer = await set({ key: credential.key, kind: credential.kind, ...which });
    const { refusal } = outcomeOf(answer.error, answer.data?.setCredential, "CredentialSuccess");
    setProblem(refusal);
    return refusal === null;
  }

  return (
    <>
      {asking.length === 0 ? null : (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-3 border-l-2 border-warn bg-warn-tint px-3 py-2">
          <p>
            {asking.length === 1
              ? "A pack needs it and may not use it yet: "
              : "Packs need it and may not use it yet: "}
            {asking.map(({ name }) => name).join(", ")}.
          </p>
          <Button disabled={fetching} onClick={() => void change({ addGrants: asking.map(({ id }) => id) })}>
            Share it with {asking.length === 1 ? "it" : "them"}
          </Button>
        </div>
      )}
      {grants.length === 0 ? (
        <p className="mb-3 text-soft">Nobody may use it.</p>
      ) : (
        <ul className="mb-3 divide-y divide-line border-y border-line text-dense">
          {grants.map((grant) => (
            <li key={grant.id} className="row flex min-h-9 items-center gap-3 px-2">
              <span className="w-20 text-soft">{grant.__typename.toLowerCase()}</span>
              <span className="min-w-0 flex-1 truncate">
                <Name grant={grant} />
              </span>
              <Button
                kind="quiet"
                disabled={fetching}
                aria-label={`Stop sharing with ${nameOf(grant)}`}
                onClick={() => void change({ removeGrants: [grant.id] })}
              >
                Stop sharing
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Notice problem={problem} />
      <Add taken={grants.map(({ id }) => id)} busy={fetching} onAdd={(id) => change({ addGrants: [id] })} />
    </>
  );
}

function nameOf(grant: GrantTargetFragment): string {
  if (grant.__typename === "Pack") return grant.name;
  if (grant.__typename === "Pipeline") return grant.title;
  if (grant.__typename === "Caller") return grant.called;
  return grant.id;
}

function Name({ grant }: { grant: GrantTargetFragment }): ReactNode {
  if (grant.__typename === "Pack") {
    return (
      <Link to="/catalog/$pack" params={{ pack: grant.id }} className="link font-mono">
        {grant.name}
      </Link>
    );
  }
  if (grant.__typename === "Pipeline") {
    return (
      <Link to="/pipelines/$pipeline" params={{ pipeline: grant.key }} className="link">
        {grant.title}
      </Link>
    );
  }
  return nameOf(grant);
}

function Add({
  taken,
  busy,
  onAdd,
}: {
  taken: readonly string[];
  busy: boolean;
  onAdd: (id: string) => Promise<boolean>;
}): ReactNode {
  const [text, setText] = useState("");
  const [{ data }] = useQuery({ query: GrantChoicesDocument, variables: { text: text === "" ? null : text } });
  const [chosen, setChosen] = useState("");
  if (data === undefined) return null;
  // There can be more than one page of them: they are searched.
  const many = text !== "" || [data.packs, data.pipelines, data.callers].some(({ pageInfo }) => pageInfo.hasNextPage);
  const free = (id: string) => !taken.includes(id);

  async function add(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (chosen !== "" && (await onAdd(chosen))) setChosen("");
  }

  return (
    <form onSubmit={(event) => void add(event)} className="flex flex-wrap items-end gap-2">
      {many ? <SearchBox label="Search packs, pipelines and callers" text={text} onSearch={setText} /> : null}
      <FormField label="Share it with">
        {(given) => (
          <select {...given} className="field !w-72" value={chosen} onChange={(event) => setChosen(event.target.value)}>
            <option value="">Choose a pack, pipeline or caller</option>
            <optgroup label="Packs">
              {data.packs.nodes
                .filter(({ id }) => free(id))
                .map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
            </optgroup>
            <optgroup label="Pipelines">
              {data.pipelines.nodes
                .filter(({ id }) => free(id))
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </optgroup>
            <optgroup label="Callers">
              {data.callers.nodes
                .filter(({ id }) => free(id))
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </optgroup>
          </select>
        )}
      </FormField>
      <Button type="submit" disabled={busy || chosen === ""}>
        Share
      </Button>
    </form>
  );
}
