import type { ReactNode } from "react";

import { Button } from "../../../components/Button.tsx";
import { type Definition, isObject, type Json, type Path, plainText } from "../definition/definition.ts";
import { DeclaredInputs } from "./DeclaredInputs.tsx";
import { PlainField } from "../fields/PlainField.tsx";
import { issuesAt, type Issue } from "../definition/useCheck.ts";

interface Props {
  definition: Definition;
  issues: readonly Issue[];
  /** The input schema, declared or derived. */
  inputSchema: unknown;
  isNew: boolean;
  readOnly: boolean;
  onChange: (path: Path, value: unknown) => void;
  onRenameInput: (old: string, name: string) => void;
}

const LISTS = [
  { name: "accepts", label: "Takes", about: "Kinds, one on each line, such as url or markdown." },
  { name: "produces", label: "Makes", about: "Kinds, one on each line, such as pdf." },
  { name: "intent_keywords", label: "Keywords", about: "Short phrases a request is matched against." },
  { name: "example_intents", label: "Example requests", about: "In users' words." },
  { name: "limitations", label: "Limits", about: "What it cannot do, one sentence on each line." },
  { name: "supersedes", label: "Replaces", about: "Packs to use through this pipeline instead." },
] as const;

/** Name, inputs and metadata of the pipeline. */
export function PipelineForm({
  definition,
  issues,
  inputSchema,
  isNew,
  readOnly,
  onChange,
  onRenameInput,
}: Props): ReactNode {
  const { value } = definition;
  const metadata = isObject(value["metadata"]) ? value["metadata"] : {};
  const declared = isObject(value["inputs"]) ? value["inputs"] : null;
  return (
    <section aria-label="The pipeline" className="space-y-6">
      <div className="space-y-4">
        <PlainField
          label="Name"
          name="name"
          text={plainText(value["name"])}
          issues={issuesAt(issues, ["name"])}
          readOnly={readOnly}
          placeholder="The name people see"
          onChange={(name) => onChange(["name"], name)}
        />
        <div className="grid grid-cols-[1fr_12rem] gap-4 max-md:grid-cols-1">
          <PlainField
            label="Key"
            name="key"
            text={plainText(value["key"])}
            issues={issuesAt(issues, ["key"])}
            readOnly={readOnly}
            mono
            placeholder={isNew ? "made from the name" : ""}
            about="Short name in addresses, commands and tools."
            onChange={(key) => onChange(["key"], key === "" ? undefined : key)}
          />
          <PlainField
            label="Deadline, seconds"
            name="deadline_seconds"
            text={plainText(value["deadline_seconds"])}
            issues={issuesAt(issues, ["deadline_seconds"])}
            readOnly={readOnly}
            number
            placeholder="Server default"
            about="For a whole run."
            onChange={(given) =>
              onChange(
                ["deadline_seconds"],
                given.trim() === "" ? undefined : Number.isNaN(Number(given)) ? given : Number(given),
              )
            }
          />
        </div>
        <PlainField
          label="Description"
          name="description"
          text={plainText(value["description"])}
          issues={issuesAt(issues, ["description"])}
          readOnly={readOnly}
          rows={4}
          onChange={(given) => onChange(["description"], given === "" ? undefined : given)}
        />
      </div>
      <section aria-label="Inputs" data-field="inputs">
        <h2>Inputs</h2>
        <p className="mb-3 max-w-reading text-soft">
          The inputs of a run. They define its form, its command flags and its tool parameters.
        </p>
        {declared === null ? (
          <Undeclared schema={inputSchema} readOnly={readOnly} onDeclare={(schema) => onChange(["inputs"], schema)} />
        ) : (
          <DeclaredInputs
            schema={declared}
            issues={issuesAt(issues, ["inputs"])}
            readOnly={readOnly}
            onChange={(path, given) => onChange(["inputs", ...path], given)}
            onRename={onRenameInput}
          />
        )}
      </section>
      <section aria-label="Metadata" data-field="metadata">
        <h2>What it is for</h2>
        <p className="mb-3 max-w-reading text-soft">
          Search and agents use it to choose a pipeline. Packline derives missing values from the packs.
        </p>
        <div className="space-y-4">
          <PlainField
            label="Use it when"
            name="typical_use"
            text={plainText(metadata["typical_use"])}
            issues={issuesAt(issues, ["metadata", "typical_use"])}
            readOnly={readOnly}
            rows={2}
            about="One sentence."
            onChange={(given) => onChange(["metadata", "typical_use"], given === "" ? undefined : given)}
          />
          <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
            {LISTS.map(({ name, label, about }) => (
              <PlainField
                key={name}
                label={label}
                name={name}
                text={lines(metadata[name])}
                issues={issuesAt(issues, ["metadata", name])}
                readOnly={readOnly}
                rows={3}
                settle
                about={about}
                onChange={(given) => onChange(["metadata", name], listed(given))}
              />
            ))}
          </div>
        </div>
      </section>
    </section>
  );
}

function Undeclared({
  schema,
  readOnly,
  onDeclare,
}: {
  schema: unknown;
  readOnly: boolean;
  onDeclare: (schema: Json) => void;
}): ReactNode {
  const derived = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(derived);
  return (
    <div className="border-l-2 border-line pl-3">
      <p>
        {names.length === 0
          ? "No inputs are declared, and no step reads one."
          : "No inputs are declared. Packline derives them from the steps: "}
        {names.map((name, index) => (
          <span key={name}>
            {index === 0 ? "" : ", "}
            <code className="font-mono text-dense">{name}</code>
          </span>
        ))}
        {names.length === 0 ? "" : "."}
      </p>
      {readOnly ? null : (
        <div className="mt-2">
          <Button
            onClick={() =>
              onDeclare(
                names.length === 0 ? { type: "object", properties: { text: { type: "string" } } } : (schema as Json),
              )
            }
          >
            {names.length === 0 ? "Declare an input" : "Declare them"}
          </Button>
        </div>
      )}
    </div>
  );
}

function lines(value: unknown): string {
  return Array.isArray(value) ? value.map(plainText).join("\n") : plainText(value);
}

function listed(value: string): string[] | undefined {
  const items = value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return items.length === 0 ? undefined : items;
}
