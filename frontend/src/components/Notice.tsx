import type { ReactNode } from "react";

import { Prose } from "./Prose.tsx";

/** A refusal or failure of a command, with what to do next. Announced at once. */
export function Notice({ problem }: { problem: Refusal | null }): ReactNode {
  if (problem === null) return null;
  return (
    <div role="alert" className="my-3 rounded border-l-2 border-fail bg-fail-tint px-3 py-2 text-ink">
      <p className="font-medium wrap-anywhere">
        <Prose text={problem.message} />
      </p>
      {problem.hint === null ? null : (
        <p className="text-soft wrap-anywhere">
          <Prose text={problem.hint} />
        </p>
      )}
      {problem.details.length === 0 ? null : (
        <ul className="mt-1 list-disc pl-5">
          {problem.details.map((detail) => (
            <li key={detail} className="wrap-anywhere">
              <Prose text={detail} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export interface Refusal {
  message: string;
  hint: string | null;
  details: string[];
  /** What is wrong with single inputs, by name. */
  fields: Record<string, string>;
}

interface HintParts {
  text: string | null;
  closest: string | null;
}

interface Told {
  __typename?: string;
  message?: string;
  hintParts?: HintParts | null;
  issues?: readonly { path: readonly string[]; message: string; hint: string | null }[];
  missing?: readonly { message: string; hint: string | null }[];
}

/** A hint as sentences; which operation of the API helps is nothing a reader of the page can use. */
function hintOf(parts: HintParts | null): string | null {
  const meant = parts?.closest ? `Did you mean \`${parts.closest}\`?` : "";
  return [meant, parts?.text ?? ""].filter((part) => part !== "").join(" ") || null;
}

/** What a refused command says; `known` are the inputs a form can show a message at. */
export function refusalOf(problem: Told, known: readonly string[] = []): Refusal {
  const fields = new Map<string, string>();
  const details: string[] = [];
  for (const [place, issue] of (problem.issues ?? []).entries()) {
    const name = issue.path.findLast((part) => known.includes(part));
    const text = issue.hint === null ? issue.message : `${issue.message} ${issue.hint}`;
    if (name !== undefined) fields.set(name, fields.has(name) ? `${fields.get(name)} ${text}` : text);
    else if (place > 0) details.push(text); // the message and the hint are those of the first
  }
  for (const missing of problem.missing ?? []) {
    details.push(missing.hint === null ? missing.message : `${missing.message} ${missing.hint}`);
  }
  return {
    message: problem.message ?? "The server refused it.",
    hint: hintOf(problem.hintParts ?? null),
    details: [...new Set(details)],
    fields: Object.fromEntries(fields),
  };
}

/** What an answer that never came, or came broken, says. */
export function lost(error: {
  graphQLErrors: readonly { message: string }[];
  networkError?: Error | undefined;
}): Refusal {
  const unreachable = error.networkError !== undefined;
  return {
    message: unreachable ? "The server did not answer." : error.graphQLErrors.map(({ message }) => message).join("\n"),
    hint: unreachable ? "Nothing is known to have been done. Check that it runs, then try again." : null,
    details: [],
    fields: {},
  };
}
