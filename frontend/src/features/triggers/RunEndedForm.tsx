import { type ReactNode, useId, useState } from "react";

import { FormField } from "../../components/FormField.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { ENDS, runEndedWords } from "../../domain/triggers/runEndedWords.ts";
import { type FormProps, TriggerForm } from "./TriggerForm.tsx";
import type { RunEndedInput, RunsOf } from "./triggers.generated.ts";
import { WHOSE } from "./whose.ts";

export interface Choice {
  id: string;
  name: string;
}

export interface RunEndedSettings {
  states: RunEndedInput["states"];
  /** Null for all; empty if those it fired for were deleted. */
  pipelines: readonly Choice[] | null;
  runsOf: RunsOf;
}

interface Props extends FormProps<RunEndedInput> {
  runEnded: RunEndedSettings;
  /** Pipelines to choose from, without the one that the trigger starts. */
  choices: readonly Choice[];
}

const TEMPLATES = [
  ["run", "the run that ended, with all of these"],
  ["run.title", "its title"],
  ["run.state", "succeeded, failed or cancelled"],
  ["run.url", "its address"],
  ["run.failure.message", "why it failed"],
  ["run.output", "its output, if it succeeded"],
] as const;

/** The input of a pipeline that takes the run that ended, such as that of the starter `notify-failure`. */
const RUN_INPUT = "run";

/** Which ends of runs a trigger fires for, with its name and inputs. */
export function RunEndedForm({ runEnded: given, choices, ...rest }: Props): ReactNode {
  const heading = useId();
  const [states, setStates] = useState(given.states);
  const [pipelines, setPipelines] = useState(given.pipelines ?? []);
  const [runsOf, setRunsOf] = useState(given.runsOf);
  const left = choices.filter(({ id }) => !pipelines.some((chosen) => chosen.id === id));
  return (
    <TriggerForm
      {...rest}
      inputs={rest.inputs ?? (takesRun(rest.inputSchema) ? { [RUN_INPUT]: "${{ trigger.run }}" } : undefined)}
      usualName={runEndedWords({ states, pipelines: pipelines.length === 0 ? null : pipelines, runsOf })}
      aboutName="Shown in lists, and on the runs it starts. Defaults to the condition in words."
      templates={TEMPLATES}
      read={() => {
        if (states.length === 0) return { value: null, problems: { states: "Choose at least one." } };
        // None means all: a trigger whose pipelines were deleted must not come to fire for all.
        if (given.pipelines?.length === 0 && pipelines.length === 0)
          return { value: null, problems: { pipelines: "Choose at least one, or add another trigger for all." } };
        return { value: { states, pipelines: pipelines.map(({ id }) => id), runsOf }, problems: null };
      }}
    >
      {(problems, onTouched) => (
        <div className="space-y-4">
          <fieldset aria-describedby={problems["states"] === undefined ? undefined : `${heading}-problem`}>
            <legend className="mb-1 font-medium">When a run</legend>
            <div className="flex flex-wrap gap-x-5 gap-y-1">
              {ENDS.map(([state, verb]) => (
                <label key={state} className="flex items-center gap-2 pointer-coarse:min-h-11">
                  <input
                    type="checkbox"
                    checked={states.includes(state)}
                    onChange={(change) => {
                      onTouched();
                      setStates(
                        change.target.checked ? [...states, state] : states.filter((chosen) => chosen !== state),
                      );
                    }}
                  />
                  {verb}
                </label>
              ))}
            </div>
            {problems["states"] === undefined ? null : (
              <p id={`${heading}-problem`} className="mt-1 text-bad">
                {problems["states"]}
              </p>
            )}
          </fieldset>
          <FormField
            label="Of these pipelines"
            optional
            about="Leave it empty for all pipelines except the one the trigger starts."
            problem={problems["pipelines"]}
          >
            {(attributes) => (
              <select
                {...attributes}
                value=""
                onChange={(change) => {
                  onTouched();
                  setPipelines([...pipelines, ...left.filter(({ id }) => id === change.target.value)]);
                }}
              >
                <option value="" disabled>
                  Add a pipeline
                </option>
                {left.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </FormField>
          {pipelines.length === 0 ? null : (
            <ul aria-label="Chosen pipelines" className="flex flex-wrap gap-1.5">
              {pipelines.map(({ id, name }) => (
                <li key={id}>
                  <button
                    type="button"
                    className="rounded border border-control px-2 py-0.5 text-meta hover:bg-hover pointer-coarse:min-h-11"
                    aria-label={`Remove ${name}`}
                    onClick={() => {
                      onTouched();
                      setPipelines(pipelines.filter((chosen) => chosen.id !== id));
                    }}
                  >
                    {name} <span aria-hidden="true">×</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          <FormField
            label="Whose runs"
            about={<TextWithCode text={WHOSE[runsOf].sentence} />}
            problem={problems["runsOf"]}
          >
            {(attributes) => (
              <select
                {...attributes}
                value={runsOf}
                onChange={(change) => {
                  onTouched();
                  setRunsOf(change.target.value as RunsOf);
                }}
              >
                {Object.entries(WHOSE).map(([value, { word }]) => (
                  <option key={value} value={value}>
                    {word}
                  </option>
                ))}
              </select>
            )}
          </FormField>
        </div>
      )}
    </TriggerForm>
  );
}

function takesRun(schema: unknown): boolean {
  const properties = schema !== null && typeof schema === "object" ? Reflect.get(schema, "properties") : null;
  const input: unknown =
    properties !== null && typeof properties === "object" ? Reflect.get(properties, RUN_INPUT) : null;
  return input !== null && typeof input === "object" && Reflect.get(input, "type") === "object";
}
