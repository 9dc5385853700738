import { type ReactNode, useId } from "react";

import { own } from "../../lib/json/untrusted.ts";
import type { LearnedValue } from "./learned.ts";
import type { Field } from "./schemaForm.ts";
import { FileField } from "../files/FileField.tsx";
import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { useShowMore } from "../../components/useShowMore.tsx";

interface Props {
  fields: readonly Field[];
  texts: Readonly<Record<string, string>>;
  problems: Readonly<Record<string, string>>;
  onChange: (name: string, text: string) => void;
  onLeave?: (name: string) => void;
  /** The field that has the focus when the form opens. */
  focus?: string | undefined;
  /** Fields whose texts come from memory. */
  filled?: Readonly<Record<string, LearnedValue>>;
  onClear?: (name: string) => void;
  onNever?: (name: string) => void;
  /** Notes next to field names, such as the source of a value. */
  notes?: Readonly<Record<string, ReactNode>> | undefined;
  /** Optional fields to show unfolded. */
  first?: readonly string[] | undefined;
}

/** How many optional fields show before the rest is folded. */
const AT_ONCE = 3;
/** Fields rendered per batch. */
const BATCH = 100;

/** Fields of an input schema: required ones first, at most three optional ones, the rest under “More”. */
export function SchemaForm(props: Props): ReactNode {
  const { fields, texts, problems, first } = props;
  if (fields.length === 0) return <p className="text-soft">It has no inputs.</p>;
  const needed = fields.filter((field) => field.required).length;
  const cut = Math.max(AT_ONCE, needed);
  const atOnce =
    first === undefined
      ? fields.slice(0, cut)
      : fields.filter(({ name, required }) => required || first.includes(name));
  const shownAtOnce = new Set(atOnce);
  const rest = fields.filter((field) => !shownAtOnce.has(field));
  const open = rest.some((field) => (own(texts, field.name) ?? "") !== "" || own(problems, field.name) !== undefined);
  return (
    <div className="space-y-4">
      <FieldRows of={atOnce} {...props} />
      {rest.length === 0 ? null : (
        <details open={open || undefined}>
          <summary className="link w-fit">More ({rest.length})</summary>
          <div className="mt-4 space-y-4">
            <FieldRows of={rest} {...props} />
          </div>
        </details>
      )}
    </div>
  );
}

/** Shows a hundred fields, and more on request. A field with a problem or note always shows. */
function FieldRows({ of: fields, ...props }: Props & { of: readonly Field[] }): ReactNode {
  const { texts, problems, focus } = props;
  const { shown, more } = useShowMore(fields, BATCH);
  const beyond = fields
    .slice(shown.length)
    .filter(({ name }) => name === focus || (own(texts, name) ?? "") !== "" || own(problems, name) !== undefined);
  return (
    <>
      {[...shown, ...beyond.slice(0, BATCH)].map((field) => (
        <ContentBoundary key={field.name} what={`The field ${field.label}`} of={[field]}>
          <FieldRow field={field} {...props} />
        </ContentBoundary>
      ))}
      {more}
    </>
  );
}

function FieldRow({
  field,
  texts,
  problems,
  onChange,
  onLeave,
  focus,
  filled,
  onClear,
  onNever,
  notes,
}: Props & { field: Field }): ReactNode {
  const id = useId();
  const problem = own(problems, field.name);
  const usual = own(filled, field.name);
  const note = own(notes, field.name);
  const described = [
    note === undefined ? null : `${id}-note`,
    usual === undefined ? null : `${id}-memory`,
    field.description === "" ? null : `${id}-about`,
    problem === undefined ? null : `${id}-problem`,
  ]
    .filter((part) => part !== null)
    .join(" ");
  const common = {
    id,
    value: own(texts, field.name) ?? "",
    required: field.required,
    "data-field": field.name,
    "aria-invalid": problem !== undefined,
    "aria-describedby": described === "" ? undefined : described,
    className: `field ${field.kind === "json" ? "font-mono text-dense" : ""} ${problem === undefined ? "" : "border-fail"}`,
    ...(field.name === focus ? { "data-autofocus": "" } : {}),
    onBlur: () => onLeave?.(field.name),
    onChange: (event: { target: { value: string } }) => onChange(field.name, event.target.value),
  };
  return (
    <div>
      <div className="mb-1 flex flex-wrap items-baseline gap-x-2">
        <label htmlFor={id} className="font-medium">
          {field.label}
          {field.required ? null : <span className="font-normal text-soft"> · optional</span>}
        </label>
        {note === undefined ? null : (
          <span id={`${id}-note`} className="text-meta text-accent">
            {note}
          </span>
        )}
      </div>
      <Control field={field} common={common} />
      {usual === undefined ? null : (
        <p className="mt-1 text-meta">
          <span id={`${id}-memory`} title={usual.source}>
            <span aria-hidden="true">✎ </span>
            {usual.from}
          </span>
          {" · "}
          <button
            type="button"
            className="link"
            aria-label={`clear ${field.label}`}
            onClick={() => onClear?.(field.name)}
          >
            clear
          </button>
          {" · "}
          <button
            type="button"
            className="link"
            aria-label={`never learn this: ${field.label}`}
            onClick={() => onNever?.(field.name)}
          >
            never learn this
          </button>
        </p>
      )}
      {field.description === "" ? null : (
        <p id={`${id}-about`} className="mt-1 max-w-reading text-meta text-soft">
          <TextWithCode text={field.description} />
        </p>
      )}
      {problem === undefined ? null : (
        <p id={`${id}-problem`} role="alert" className="mt-1 text-dense text-fail">
          <TextWithCode text={problem} />
        </p>
      )}
    </div>
  );
}

type Common = Record<"id" | "value" | "className", string> & {
  required: boolean;
  "aria-invalid": boolean;
  "aria-describedby": string | undefined;
  onBlur: () => void;
  onChange: (event: { target: { value: string } }) => void;
};

function Control({ field, common }: { field: Field; common: Common }): ReactNode {
  const standard = field.standard === "" ? "" : `Default: ${field.standard}`;
  const hint =
    standard === ""
      ? field.placeholder === ""
        ? ""
        : `For example ${field.placeholder.split("\n")[0] ?? ""}`
      : standard;
  switch (field.kind) {
    case "long":
      return <textarea {...common} rows={5} placeholder={hint} />;
    case "list":
      return <textarea {...common} rows={3} placeholder={hint === "" ? "One on each line" : hint} />;
    case "json":
      return <textarea {...common} rows={3} placeholder={hint === "" ? "As JSON" : hint} spellCheck={false} />;
    case "yes-no":
    case "choice": {
      const choices =
        field.kind === "choice"
          ? field.choices.map((choice) => [choice, choice])
          : [
              ["true", "Yes"],
              ["false", "No"],
            ];
      const named = choices.find(([value]) => value === field.standard)?.[1];
      return (
        <select {...common}>
          <option value="">{named === undefined ? "Not set" : `Default: ${named}`}</option>
          {choices.map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      );
    }
    case "number":
    case "integer":
      return <input {...common} inputMode={field.kind === "integer" ? "numeric" : "decimal"} placeholder={hint} />;
    case "file":
      return <FileField {...common} />;
    case "text":
      return <input {...common} placeholder={hint} />;
    default:
      return field.kind satisfies never;
  }
}
