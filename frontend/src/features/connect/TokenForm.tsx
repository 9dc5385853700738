import { type ReactNode, useId, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand } from "../../lib/server/problem.ts";
import { MakeAgentTokenDocument, type Scope } from "./connect.generated.ts";

export interface MadeToken {
  id: string;
  plaintext: string;
  /** Whether it may write pipelines, so that the tools for it are shown. */
  author: boolean;
}

const RIGHTS = {
  run: ["View, run, resume, cancel", ["READ", "RUN"]],
  author: ["The same, plus write pipelines", ["READ", "RUN", "WRITE"]],
  look: ["View only", ["READ"]],
} as const satisfies Record<string, readonly [string, readonly Scope[]]>;

interface TokenFormProps {
  subject: string;
  name: string;
  made: MadeToken | undefined;
  onMade: (token: MadeToken) => void;
}

/** Makes a token for one program and shows it once. */
export function TokenForm({ subject, name, made, onMade }: TokenFormProps): ReactNode {
  const [{ fetching }, create] = useMutation(MakeAgentTokenDocument);
  const [rights, setRights] = useState<keyof typeof RIGHTS>("run");
  const [problem, setProblem] = useState<Problem | null>(null);
  const id = useId();

  async function make(): Promise<void> {
    setProblem(null);
    const answer = await create({ name, subject, scopes: [...RIGHTS[rights][1]] });
    const result = answer.data?.createToken;
    if (answer.error !== undefined) setProblem(problemOfCommand(answer.error));
    else if (result?.__typename === "CreateTokenSuccess")
      onMade({ id: result.token.id, plaintext: result.plaintext, author: rights === "author" });
    else setProblem(problemOf(result ?? {}));
  }

  if (made !== undefined) {
    return (
      <div role="status" className="my-2 rounded border border-line bg-panel p-3">
        <p className="flex items-baseline justify-between gap-4">
          <span className="font-mono wrap-anywhere">{made.plaintext}</span>
          <CopyButton text={made.plaintext} what="the token" />
        </p>
        <p className="mt-1 text-dense text-soft">Packline shows it only once. The configuration below contains it.</p>
      </div>
    );
  }
  return (
    <div className="my-2">
      <div className="flex flex-wrap items-end gap-3">
        <div>
          <label htmlFor={id} className="block text-dense text-soft">
            The agent may
          </label>
          <select
            id={id}
            value={rights}
            onChange={(event) => setRights(event.target.value as keyof typeof RIGHTS)}
            className="field !w-auto"
          >
            {Object.entries(RIGHTS).map(([key, [word]]) => (
              <option key={key} value={key}>
                {word}
              </option>
            ))}
          </select>
        </div>
        <Button kind="primary" disabled={fetching} onClick={() => void make()}>
          Make a token
        </Button>
      </div>
      <p className="mt-2 text-dense text-soft">
        Its runs belong to “{subject}”; it cannot see the runs of other callers.
      </p>
      <Notice problem={problem} />
    </div>
  );
}
