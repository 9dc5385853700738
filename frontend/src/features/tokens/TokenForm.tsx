import { type FormEvent, type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { useFocusInside } from "../../lib/browser/focus.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { serverNow } from "../../lib/time/clock.ts";
import { expiryOf, LIFETIMES } from "./expiry.ts";
import { CreateTokenDocument, type Scope } from "./tokens.generated.ts";

export interface Made {
  name: string;
  plaintext: string;
}

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["READ", "view pipelines, packs and its own runs"],
  ["OBSERVE", "view the runs of other callers"],
  ["RUN", "start, resume and cancel runs"],
  ["WRITE", "create and change pipelines"],
  ["MANAGE", "everything: credentials, tokens, settings, the runs of others"],
];

interface Props {
  viewer: { name: string; subject: string; scopes: readonly Scope[] };
  onMade: (made: Made) => void;
  onCancel: () => void;
}

export function TokenForm({ viewer, onMade, onCancel }: Props): ReactNode {
  const [name, setName] = useState("");
  const [subject, setSubject] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["READ", "RUN"]);
  const [days, setDays] = useState("90");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, create] = useMutation(CreateTokenDocument);

  async function make(event: FormEvent): Promise<void> {
    event.preventDefault();
    const answer = await create({
      name,
      scopes: [...scopes],
      subject: subject.trim() === "" ? null : subject.trim(),
      expiresAt: expiryOf(days, serverNow()),
    });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.createToken, "CreateTokenSuccess", [
      "name",
      "subject",
      "scopes",
    ]);
    setProblem(refusal);
    if (done !== null) onMade({ name: done.token.name, plaintext: done.plaintext });
  }

  const problems = problem?.fields ?? {};
  return (
    <form ref={useFocusInside()} noValidate onSubmit={(event) => void make(event)} className="mb-8 max-w-2xl space-y-4">
      <FormField label="Name" about="Where it is used, such as a laptop or a script." problem={problems["name"]}>
        {(given) => (
          <input
            {...given}
            value={name}
            required
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </FormField>
      <FormField
        label="Caller"
        optional
        about={`The caller its runs belong to. Leave empty for yourself, ${viewer.name}. Tokens with the same caller share their runs.`}
        problem={problems["subject"]}
      >
        {(given) => (
          <input
            {...given}
            value={subject}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setSubject(event.target.value)}
          />
        )}
      </FormField>
      <fieldset>
        <legend className="mb-1 font-medium">It may</legend>
        {SCOPES.map(([scope, meaning]) => {
          const mine = viewer.scopes.includes(scope);
          return (
            <div key={scope} className={`flex items-baseline gap-2 py-0.5 ${mine ? "" : "text-soft"}`}>
              <input
                id={`scope-${scope}`}
                type="checkbox"
                checked={scopes.includes(scope)}
                disabled={!mine}
                onChange={(event) =>
                  setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                }
              />
              <label htmlFor={`scope-${scope}`}>
                <span className="font-mono text-dense">{scope.toLowerCase()}</span>{" "}
                <span className="text-soft">{meaning}</span>
              </label>
            </div>
          );
        })}
        {problems["scopes"] === undefined ? null : (
          <p role="alert" className="mt-1 text-dense text-fail">
            <TextWithCode text={problems["scopes"]} />
          </p>
        )}
      </fieldset>
      <FormField label="Expiration">
        {(given) => (
          <select {...given} value={days} onChange={(event) => setDays(event.target.value)}>
            {LIFETIMES.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <Notice problem={problem} />
      <div className="flex gap-2">
        <Button type="submit" kind="primary" disabled={fetching}>
          Create the token
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
