import type { ReactNode } from "react";

import type { Problem } from "../lib/server/problem.ts";
import { TextWithCode } from "./TextWithCode.tsx";

/** The problem of a refused or failed command, with its hint. Announced to screen readers. */
export function Notice({ problem }: { problem: Problem | null }): ReactNode {
  if (problem === null) return null;
  return (
    <div role="alert" className="my-3 rounded border-l-2 border-fail bg-fail-tint px-3 py-2 text-ink">
      <p className="font-medium wrap-anywhere">
        <TextWithCode text={problem.message} />
      </p>
      {problem.hint === null ? null : (
        <p className="text-soft wrap-anywhere">
          <TextWithCode text={problem.hint} />
        </p>
      )}
      {problem.details.length === 0 ? null : (
        <ul className="mt-1 list-disc pl-5">
          {problem.details.map((detail) => (
            <li key={detail} className="wrap-anywhere">
              <TextWithCode text={detail} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
