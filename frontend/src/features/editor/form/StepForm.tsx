import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";

import { Button } from "../../../components/Button.tsx";
import { Code } from "../../../components/Code.tsx";
import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { own } from "../../../lib/json/untrusted.ts";
import { duration, humanise } from "../../../lib/text/format.ts";
import { fieldsOf, resolved as schemaOf, type Schema } from "../../../domain/start/schemaForm.ts";
import { isObject, type Json, plainText, type StepEntry, stepText } from "../definition/definition.ts";
import type { EditorPacksQuery } from "../editor.generated.ts";
import { PlainField } from "../fields/PlainField.tsx";
import type { Suggestion } from "../definition/suggestions.ts";
import { issuesAt, type Issue } from "../definition/useCheck.ts";
import { isTemplate, ValueField } from "../fields/ValueField.tsx";

export type Pack = Extract<NonNullable<EditorPacksQuery["nodes"][number]>, { inputSchema: unknown }>;

interface Props {
  index: number;
  step: StepEntry;
  /** Null while it is read, and when there is none of that name. */
  pack: Pack | null;
  text: string;
  issues: readonly Issue[];
  suggestions: readonly Suggestion[];
  readOnly: boolean;
  onChange: (path: readonly (string | number)[], value: unknown) => void;
  onRename: (id: string) => void;
  onTest: () => void;
  onYaml: () => void;
}

const RETRY = [
  { name: "max_attempts", label: "Maximum attempts", standard: "3" },
  { name: "initial_seconds", label: "First wait, seconds", standard: "1" },
  { name: "factor", label: "Wait multiplier", standard: "2" },
  { name: "max_seconds", label: "Longest wait, seconds", standard: "60" },
  { name: "jitter", label: "Jitter, 0 to 1", standard: "0.2" },
] as const;

/** The form of one step: inputs from its pack's schema, and retries. */
export function StepForm(props: Props): ReactNode {
  const { index, step, pack, issues, readOnly, onChange, onRename } = props;
  const at = ["steps", index] as const;
  const mine = issuesAt(issues, at);
  if (!step.plain) return <OtherKind {...props} />;
  const retry = isObject(step.value["retry"]) ? step.value["retry"] : {};
  const timing = [...issuesAt(mine, [...at, "retry"]), ...issuesAt(mine, [...at, "timeout_seconds"])];
  return (
    <section aria-label={`Step ${index + 1}`}>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h2>
            {index + 1} · {humanise(step.id === "" ? "step" : step.id)}
          </h2>
          <p className="text-dense text-soft">
            {pack === null ? (
              <span className="font-mono">{step.pack}</span>
            ) : (
              <Link to="/catalog/$pack" params={{ pack: pack.id }} className="link font-mono">
                {pack.name}
              </Link>
            )}
            {pack === null ? null : (
              <>
                {" "}
                ·{" "}
                {pack.effects === "EXTERNAL" ? (
                  <span className="text-warn">changes an external system</span>
                ) : pack.effects === "IDEMPOTENT" ? (
                  "changes an external system; repeating causes no further change"
                ) : (
                  "changes no external system"
                )}
              </>
            )}
          </p>
        </div>
        {readOnly || pack === null ? null : <Button onClick={props.onTest}>Test this step…</Button>}
      </div>
      {pack?.metadata.typicalUse == null ? null : (
        <p className="mb-4 max-w-reading text-soft">
          <TextWithCode text={pack.metadata.typicalUse} />
        </p>
      )}
      <div className="mb-5 grid grid-cols-[1fr_8rem] gap-4">
        <PlainField
          label="Step id"
          name="id"
          text={step.id}
          issues={issuesAt(mine, [...at, "id"])}
          readOnly={readOnly}
          settle
          mono
          about="Later steps refer to it by this id. Renaming updates them."
          onChange={onRename}
        />
        <PlainField
          label="Pack version"
          name="version"
          text={plainText(step.value["version"])}
          issues={[...issuesAt(mine, [...at, "version"]), ...issuesAt(mine, [...at, "pack"])]}
          readOnly={readOnly}
          mono
          placeholder={pack?.version ?? ""}
          onChange={(version) => onChange([...at, "version"], version === "" ? undefined : version)}
        />
      </div>
      <Inputs {...props} issues={mine} />
      <details className="mt-6 border-t border-line pt-3" open={timing.length > 0 || undefined}>
        <summary className="link w-fit">Retries and time limit</summary>
        <div className="mt-3 grid grid-cols-3 gap-4 max-md:grid-cols-2">
          {RETRY.map(({ name, label, standard }) => (
            <PlainField
              key={name}
              label={label}
              name={name}
              text={plainText(retry[name])}
              issues={issuesAt(mine, [...at, "retry", name])}
              readOnly={readOnly}
              placeholder={standard}
              number
              onChange={(value) => onChange([...at, "retry", name], numberOf(value))}
            />
          ))}
          <PlainField
            label="Longest attempt, seconds"
            name="timeout_seconds"
            text={plainText(step.value["timeout_seconds"])}
            issues={issuesAt(mine, [...at, "timeout_seconds"])}
            readOnly={readOnly}
            placeholder={pack === null ? "" : String(pack.timeoutSeconds)}
            number
            onChange={(value) => onChange([...at, "timeout_seconds"], numberOf(value))}
          />
        </div>
        <p className="mt-2 text-meta text-soft">
          Packline retries only transient failures, and only within the run's deadline.
          {pack === null ? "" : ` The default time limit of this pack is ${duration(pack.timeoutSeconds)}.`}
        </p>
      </details>
    </section>
  );
}

/** The typed text as a number, or unchanged, for the check to report. */
function numberOf(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  return Number.isNaN(value) ? trimmed : value;
}

function Inputs({ index, step, pack, issues, suggestions, readOnly, onChange }: Props): ReactNode {
  const given: Json = isObject(step.value["input"]) ? step.value["input"] : {};
  const at = ["steps", index, "input"] as const;
  const root = (pack?.inputSchema ?? {}) as Schema;
  const fields = useMemo(() => (pack === null ? [] : fieldsOf(pack.inputSchema)), [pack]);
  // A field being emptied stays visible.
  const [first] = useState(() => new Set(Object.keys(given)));
  const known = new Set(fields.map(({ name }) => name));
  const others = Object.keys(given).filter((name) => !known.has(name));
  const shows = (name: string): boolean =>
    first.has(name) || own(given, name) !== undefined || issuesAt(issues, [...at, name]).length > 0;
  const upFront = fields.filter(
    ({ name, required }, place) => required || shows(name) || (place < 3 && fields.length <= 4),
  );
  const rest = fields.filter((field) => !upFront.includes(field));
  const whole = issues.filter(({ path }) => path.length === 3 && path[2] === "input");
  const stranger = (name: string): (typeof fields)[number] => ({
    name,
    label: humanise(name),
    kind: isTemplate(own(given, name)) || typeof own(given, name) === "string" ? "text" : "json",
    required: false,
    description: pack === null ? "" : `${pack.name} has no input of this name.`,
    placeholder: "",
    choices: [],
    standard: "",
  });
  // One list for both: a field that is being typed in stays the same one when its pack gets known.
  const row = (field: (typeof fields)[number]): ReactNode => (
    <div key={field.name}>
      <ValueField
        field={field}
        choices={schemaOf(own(root.properties, field.name) ?? {}, root).enum?.filter((choice) => choice !== null) ?? []}
        value={own(given, field.name)}
        onChange={(value) => onChange([...at, field.name], value)}
        suggestions={suggestions}
        issues={issuesAt(issues, [...at, field.name])}
        readOnly={readOnly}
      />
      {readOnly || known.has(field.name) ? null : (
        <button type="button" className="link mt-1 text-meta" onClick={() => onChange([...at, field.name], undefined)}>
          Remove <span className="font-mono">{field.name}</span>
        </button>
      )}
    </div>
  );
  return (
    <>
      {whole.map(({ message, hint }) => (
        <p key={message} className="mb-3 text-dense text-fail">
          <TextWithCode text={`${message} ${hint ?? ""}`} />
        </p>
      ))}
      {pack !== null && fields.length === 0 ? <p className="text-soft">It has no inputs.</p> : null}
      <div className="space-y-5">{[...upFront, ...others.map(stranger)].map(row)}</div>
      {rest.length === 0 ? null : (
        <details className="mt-5">
          <summary className="link w-fit">
            {rest.length} more {rest.length === 1 ? "input" : "inputs"}:{" "}
            {rest
              .slice(0, 4)
              .map(({ name }) => name)
              .join(", ")}
            {rest.length > 4 ? "…" : ""}
          </summary>
          <div className="mt-4 space-y-5">{rest.map(row)}</div>
        </details>
      )}
    </>
  );
}

/** A step the form does not support: shown, not edited here. */
function OtherKind({ index, step, text, issues, onYaml }: Props): ReactNode {
  return (
    <section aria-label={`Step ${index + 1}`}>
      <h2>
        {index + 1} · {humanise(step.id === "" ? "step" : step.id)}
      </h2>
      <p className="mt-1 mb-3 max-w-reading text-soft">
        This form cannot show every setting of this step. Edit it as YAML.
      </p>
      {issuesAt(issues, ["steps", index]).map(({ message, hint }) => (
        <p key={message} className="mb-2 text-dense text-fail">
          <TextWithCode text={`${message} ${hint ?? ""}`} />
        </p>
      ))}
      <Code text={stepText(text, index)} label="The step as YAML" />
      <div className="mt-3">
        <Button onClick={onYaml}>Edit as YAML</Button>
      </div>
    </section>
  );
}
