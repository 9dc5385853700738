import { type ReactNode, type RefObject, useId, useRef, useState } from "react";

import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { readJson } from "../../../lib/json/untrusted.ts";
import { focusOnceShown } from "../../../lib/browser/focus.ts";
import { asText, type Field, type FieldKind } from "../../../domain/start/schemaForm.ts";
import { plainText } from "../definition/definition.ts";
import type { Suggestion } from "../definition/suggestions.ts";
import { TemplateText } from "./TemplateText.tsx";
import type { Issue } from "../definition/useCheck.ts";

interface Props {
  field: Field;
  /** The values of a choice, as in the schema. */
  choices: readonly unknown[];
  value: unknown;
  /** Undefined takes the value away. */
  onChange: (value: unknown) => void;
  suggestions: readonly Suggestion[];
  issues: readonly Issue[];
  readOnly: boolean;
}

/** One input of a step: a value, or a reference to an input or an earlier step. */
export function ValueField(props: Props): ReactNode {
  const { field, issues, value } = props;
  const id = useId();
  const wrong = issues.filter(({ severity }) => severity === "ERROR");
  const [unread, setUnread] = useState<string | null>(null);
  const described = [
    field.description === "" ? null : `${id}-about`,
    issues.length > 0 || unread !== null ? `${id}-issues` : null,
  ]
    .filter((part) => part !== null)
    .join(" ");
  return (
    <div data-field={field.name}>
      <div className="mb-1 flex flex-wrap items-baseline gap-x-2">
        <label htmlFor={id} className="font-medium">
          {field.label}
        </label>
        <span className="font-mono text-meta text-soft">{field.name}</span>
        <span className="text-meta text-soft">
          {field.required ? "required" : value === undefined ? "not set" : ""}
        </span>
      </div>
      <Control {...props} id={id} describedBy={described === "" ? undefined : described} onUnread={setUnread} />
      {issues.length === 0 && unread === null ? null : (
        <div
          id={`${id}-issues`}
          className={`mt-1 text-dense ${wrong.length > 0 || unread !== null ? "text-fail" : "text-warn"}`}
        >
          {unread === null ? null : <p>{unread}</p>}
          {issues.map((issue) => (
            <p key={issue.rule + issue.message} className="wrap-anywhere">
              <TextWithCode text={issue.message} /> {issue.hint === null ? null : <TextWithCode text={issue.hint} />}
            </p>
          ))}
        </div>
      )}
      {field.description === "" ? null : (
        <p id={`${id}-about`} className="mt-1 max-w-reading text-meta text-soft">
          <TextWithCode text={field.description} />
        </p>
      )}
    </div>
  );
}

type ControlProps = Props & { id: string; describedBy: string | undefined; onUnread: (message: string | null) => void };

export function isTemplate(value: unknown): value is string {
  return typeof value === "string" && value.includes("${{");
}

/** Kinds whose text is the value. */
const TEXTS = new Set<FieldKind>(["text", "long", "file"]);

function Control(props: ControlProps): ReactNode {
  const { field, value, onChange, id, readOnly, describedBy, onUnread } = props;
  const taken = isTemplate(value);
  // A choice has no place to type `${{`: on request it becomes a text field.
  const [asked, setAsked] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const hint =
    field.standard === ""
      ? field.placeholder === ""
        ? ""
        : `For example ${field.placeholder.split("\n")[0] ?? ""}`
      : `Default: ${field.standard}`;
  if (TEXTS.has(field.kind) && (typeof value === "string" || value === undefined || value === null)) {
    return (
      <TemplateText
        id={id}
        text={value ?? ""}
        onChange={(text) => onChange(text === "" && !field.required ? undefined : text)}
        suggestions={props.suggestions}
        issues={props.issues}
        placeholder={hint}
        describedBy={describedBy}
        rows={field.kind === "long" ? 3 : 1}
        readOnly={readOnly}
        required={field.required}
        box={box}
      />
    );
  }
  if ((field.kind === "yes-no" || field.kind === "choice") && !taken && !asked) {
    return (
      <Choice
        {...props}
        hint={hint}
        onTake={() => {
          focusOnceShown(`#${CSS.escape(id)}`);
          setAsked(true);
        }}
      />
    );
  }
  return (
    <ReadText
      {...props}
      box={box}
      hint={taken || asked ? "${{ … }}" : hint}
      key={field.kind}
      onUnread={onUnread}
      onGiveUp={
        field.kind === "yes-no" || field.kind === "choice"
          ? () => {
              focusOnceShown(`#${CSS.escape(id)}`);
              setAsked(false);
              onUnread(null);
              onChange(undefined);
            }
          : null
      }
    />
  );
}

function wordOf(choice: unknown): string {
  return choice === true ? "Yes" : choice === false ? "No" : plainText(choice);
}

const TAKE = "\u0000take";

function Choice({
  field,
  choices: listed,
  value,
  onChange,
  id,
  readOnly,
  describedBy,
  issues,
  hint,
  onTake,
}: ControlProps & { hint: string; onTake: () => void }): ReactNode {
  const choices = field.kind === "yes-no" ? [true, false] : listed;
  const known = choices.some((choice) => choice === value);
  return (
    <select
      id={id}
      disabled={readOnly}
      aria-describedby={describedBy}
      aria-invalid={issues.length > 0}
      className={`field ${issues.some(({ severity }) => severity === "ERROR") ? "!border-fail" : ""}`}
      value={value === undefined ? "" : JSON.stringify(value)}
      onChange={({ target }) => {
        if (target.value === TAKE) onTake();
        else onChange(target.value === "" ? undefined : readJson(target.value)?.json);
      }}
    >
      <option value="">{hint === "" ? "Not set" : hint}</option>
      {choices.map((choice) => (
        <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
          {wordOf(choice)}
        </option>
      ))}
      {known || value === undefined ? null : <option value={JSON.stringify(value)}>{JSON.stringify(value)}</option>}
      <option value={TAKE}>Use a value from an input or an earlier step…</option>
    </select>
  );
}

interface ReadProps extends ControlProps {
  box: RefObject<HTMLTextAreaElement | null>;
  hint: string;
  onGiveUp: (() => void) | null;
}

/** A number, list or JSON as text; reported once it can be parsed. */
function ReadText({
  field,
  value,
  onChange,
  id,
  suggestions,
  issues,
  describedBy,
  readOnly,
  box,
  hint,
  onUnread,
  onGiveUp,
}: ReadProps): ReactNode {
  const [typed, setTyped] = useState(() => textOf(value, field.kind));
  const [given, setGiven] = useState(() => JSON.stringify(value));
  if (JSON.stringify(value) !== given) {
    // It was changed elsewhere, such as in the YAML or by going back.
    setGiven(JSON.stringify(value));
    setTyped(textOf(value, field.kind));
  }
  function change(text: string): void {
    setTyped(text);
    const read = valueOf(text, field.kind);
    onUnread(read.wrong);
    if (read.wrong !== null) return;
    setGiven(JSON.stringify(read.value));
    onChange(read.value);
  }
  const many = field.kind === "list" || field.kind === "json" || TEXTS.has(field.kind);
  return (
    <>
      <TemplateText
        id={id}
        text={typed}
        onChange={change}
        suggestions={suggestions}
        issues={issues}
        placeholder={
          hint === "" ? (field.kind === "list" ? "One on each line" : field.kind === "json" ? "As JSON" : "") : hint
        }
        describedBy={describedBy}
        rows={many ? 2 : 1}
        mono={field.kind === "json"}
        readOnly={readOnly}
        required={field.required}
        box={box}
      />
      {onGiveUp === null || readOnly ? null : (
        <button type="button" className="link mt-1 text-meta" onClick={onGiveUp}>
          Choose a value instead
        </button>
      )}
    </>
  );
}

function textOf(value: unknown, kind: FieldKind): string {
  if (value === undefined) return "";
  if (isTemplate(value)) return value;
  if (
    kind === "list" &&
    Array.isArray(value) &&
    value.every((item) => typeof item === "string" && !item.includes("\n")) &&
    !(value.length === 1 && isTemplate(value[0]))
  )
    return value.join("\n");
  if (typeof value === "string" && kind !== "json") return value;
  return asText(value, "json");
}

/** A text with nothing but one reference is that reference, also for a list or an object. */
export function valueOf(text: string, kind: FieldKind): { value: unknown; wrong: string | null } {
  const trimmed = text.trim();
  if (trimmed === "") return { value: undefined, wrong: null };
  switch (kind) {
    case "number":
    case "integer": {
      if (isTemplate(trimmed)) return { value: trimmed, wrong: null };
      const number = Number(trimmed);
      return Number.isNaN(number)
        ? { value: undefined, wrong: "This is not a number." }
        : { value: number, wrong: null };
    }
    case "list": {
      if (trimmed.startsWith("[")) return fromJson(trimmed);
      const lines = text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
      return { value: lines.length === 1 && /^\$\{\{[^{}]*\}\}$/.test(trimmed) ? trimmed : lines, wrong: null };
    }
    case "yes-no":
      return { value: trimmed === "true" ? true : trimmed === "false" ? false : trimmed, wrong: null };
    case "json":
    case "text":
    case "file":
    case "long":
      if (/^\$?\$\{\{/.test(trimmed)) return { value: trimmed, wrong: null };
      return fromJson(trimmed);
    case "choice":
      return { value: trimmed, wrong: null };
    default:
      return kind satisfies never;
  }
}

function fromJson(text: string): { value: unknown; wrong: string | null } {
  const read = readJson(text);
  return read === null
    ? { value: undefined, wrong: 'This is not JSON. Put text in quotes: "text". The value before is kept.' }
    : { value: read.json, wrong: null };
}
