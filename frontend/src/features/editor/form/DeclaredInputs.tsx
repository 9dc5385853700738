import { Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";

import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { Button } from "../../../components/Button.tsx";
import { readJson } from "../../../lib/json/untrusted.ts";
import { isObject, type Json, type Path, plainText } from "../definition/definition.ts";
import { PlainField } from "../fields/PlainField.tsx";
import { issuesAt, type Issue } from "../definition/useCheck.ts";

interface Props {
  schema: Json;
  issues: readonly Issue[];
  readOnly: boolean;
  /** A path inside the schema; undefined takes away. */
  onChange: (path: Path, value: unknown) => void;
  onRename: (old: string, name: string) => void;
}

const KINDS = {
  text: { word: "Text", schema: { type: "string" } },
  choice: { word: "Choice", schema: { type: "string", enum: ["one", "other"] } },
  number: { word: "Number", schema: { type: "number" } },
  integer: { word: "Whole number", schema: { type: "integer" } },
  boolean: { word: "Yes or no", schema: { type: "boolean" } },
  texts: { word: "List of texts", schema: { type: "array", items: { type: "string" } } },
  object: { word: "Object", schema: { type: "object" } },
  anything: { word: "Anything", schema: {} },
} as const satisfies Record<string, { word: string; schema: Json }>;
type Kind = keyof typeof KINDS;
/** Keywords that say of which kind an input is; all others stay when the kind changes. */
const KIND_KEYWORDS = ["type", "enum", "items"];

export function kindOf(schema: Json): Kind | null {
  if (Array.isArray(schema["enum"]))
    return schema["enum"].every((choice) => typeof choice === "string") ? "choice" : null;
  switch (schema["type"]) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
    case "object":
      return schema["type"];
    case "array":
      return isObject(schema["items"]) && schema["items"]["type"] === "string" ? "texts" : null;
    default:
      return schema["type"] === undefined &&
        schema["$ref"] === undefined &&
        schema["anyOf"] === undefined &&
        schema["oneOf"] === undefined
        ? "anything"
        : null;
  }
}

/** The inputs of a pipeline, one after the other. */
export function DeclaredInputs({ schema, issues, readOnly, onChange, onRename }: Props): ReactNode {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties);
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const require = (name: string, wanted: boolean): void => {
    const next = wanted ? [...required, name] : required.filter((one) => one !== name);
    onChange(["required"], next.length === 0 ? undefined : next);
  };
  const here = issues.filter(({ path }) => path[1] !== "properties");
  return (
    <div>
      {here.map(({ message, hint }) => (
        <p key={message} className="mb-2 text-dense text-fail">
          <TextWithCode text={`${message} ${hint ?? ""}`} />
        </p>
      ))}
      <ul className="divide-y divide-line border-y border-line">
        {names.map((name) => (
          <Declared
            key={name}
            name={name}
            schema={isObject(properties[name]) ? properties[name] : {}}
            required={required.includes(name)}
            issues={issuesAt(issues, ["inputs", "properties", name])}
            readOnly={readOnly}
            onChange={(path, value) => onChange(["properties", name, ...path], value)}
            onRename={(next) => {
              if (next !== "" && !names.includes(next)) onRename(name, next);
            }}
            onRequire={(wanted) => require(name, wanted)}
            onRemove={() => {
              if (required.includes(name)) require(name, false);
              onChange(["properties", name], undefined);
            }}
          />
        ))}
      </ul>
      {readOnly ? null : (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button onClick={() => onChange(["properties", free(names)], { type: "string" })}>
            <Plus aria-hidden="true" className="size-4" />
            Add an input
          </Button>
          {names.length > 0 ? null : (
            <Button kind="quiet" onClick={() => onChange([], undefined)}>
              Remove the declarations
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

function free(names: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "input" : `input_${number}`;
    if (!names.includes(name)) return name;
  }
}

interface DeclaredProps {
  name: string;
  schema: Json;
  required: boolean;
  issues: readonly Issue[];
  readOnly: boolean;
  onChange: (path: Path, value: unknown) => void;
  onRename: (name: string) => void;
  onRequire: (required: boolean) => void;
  onRemove: () => void;
}

function Declared({
  name,
  schema,
  required,
  issues,
  readOnly,
  onChange,
  onRename,
  onRequire,
  onRemove,
}: DeclaredProps): ReactNode {
  const kind = kindOf(schema);
  const standard = schema["default"];
  return (
    <li className="space-y-3 py-3" data-field={name}>
      <div className="grid grid-cols-[minmax(8rem,1fr)_10rem_auto_auto] items-end gap-3 max-md:grid-cols-[1fr_1fr]">
        <PlainField
          label="Name"
          name={`${name}-name`}
          text={name}
          issues={issues}
          readOnly={readOnly}
          mono
          settle
          onChange={onRename}
        />
        <label className="block">
          <span className="mb-1 block font-medium">Kind</span>
          <select
            className="field"
            disabled={readOnly}
            value={kind ?? ""}
            onChange={({ target }) => {
              const next = KINDS[target.value as Kind].schema;
              const kept = Object.entries(schema).filter(([key]) => !KIND_KEYWORDS.includes(key) && key !== "default");
              onChange([], { ...next, ...Object.fromEntries(kept) });
            }}
          >
            {kind === null ? <option value="">As in the YAML</option> : null}
            {Object.entries(KINDS).map(([one, { word }]) => (
              <option key={one} value={one}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <label className="flex items-center gap-2 pb-1.5">
          <input
            type="checkbox"
            checked={required}
            disabled={readOnly}
            onChange={({ target }) => onRequire(target.checked)}
          />
          Required
        </label>
        {readOnly ? null : (
          <button
            type="button"
            aria-label={`Remove the input ${name}`}
            title="Remove"
            className="mb-0.5 rounded p-1.5 max-md:-mr-1.5 max-md:justify-self-end text-soft hover:bg-hover hover:text-ink pointer-coarse:p-3"
            onClick={onRemove}
          >
            <Trash2 aria-hidden="true" className="mx-auto size-4" />
          </button>
        )}
      </div>
      <div className="grid grid-cols-[1fr_10rem] gap-3 max-md:grid-cols-1">
        <PlainField
          label="Description"
          name={`${name}-description`}
          text={typeof schema["description"] === "string" ? schema["description"] : ""}
          issues={[]}
          readOnly={readOnly}
          onChange={(given) => onChange(["description"], given === "" ? undefined : given)}
        />
        {kind === "choice" ? (
          <PlainField
            label="Choices"
            name={`${name}-choices`}
            text={(schema["enum"] as string[]).join(", ")}
            issues={[]}
            readOnly={readOnly}
            settle
            onChange={(given) => {
              const choices = given
                .split(",")
                .map((choice) => choice.trim())
                .filter((choice) => choice !== "");
              if (choices.length > 0) onChange(["enum"], [...new Set(choices)]);
            }}
          />
        ) : (
          <PlainField
            label="Default"
            name={`${name}-default`}
            text={plainText(standard)}
            issues={[]}
            readOnly={readOnly}
            settle
            placeholder="none"
            onChange={(given) => onChange(["default"], defaultOf(given, kind))}
          />
        )}
      </div>
    </li>
  );
}

/** Parses a default by its kind; an unreadable text stays text, which the check reports. */
export function defaultOf(text: string, kind: Kind | null): unknown {
  if (text === "") return undefined;
  if (kind === "text" || kind === "choice") return text;
  const read = readJson(text);
  return read === null ? text : read.json;
}
