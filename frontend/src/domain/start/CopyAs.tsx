import { type ReactNode, useId, useState } from "react";

import { BASE } from "../../lib/server/base.ts";
import { copyAs, type Form, FORMS, type Given, type Target } from "./copyAs.ts";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Code } from "../../components/Code.tsx";

/** Copies the same start for a script, an agent or a terminal, with the form's current values. */
export function CopyAs({ target, given }: { target: Target; given: Given }): ReactNode {
  const [form, setForm] = useState<Form>("curl");
  const id = useId();
  const text = copyAs(form, target, given, location.origin + BASE);
  return (
    <details className="mt-6 border-t border-line pt-4">
      <summary className="link w-fit">Copy as GraphQL, curl, MCP call, CLI or prompt</summary>
      <fieldset className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-1">
        <legend className="sr-only">Copy as</legend>
        {FORMS.map((one) => (
          <label key={one} className="inline-flex items-center gap-1.5 pointer-coarse:min-h-11">
            <input type="radio" name={id} checked={form === one} onChange={() => setForm(one)} />
            {one}
          </label>
        ))}
        <span className="ml-auto">
          <CopyButton text={text} what={`as ${form}`} />
        </span>
      </fieldset>
      <div className="mt-2">
        <Code text={text} label={form} />
      </div>
      {form === "curl" ? (
        <p className="mt-1 text-meta text-soft">
          PACKLINE_TOKEN is one of your tokens. Make one with `packline token create`.
        </p>
      ) : null}
    </details>
  );
}
