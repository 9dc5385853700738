import { type ReactNode, useId } from "react";

import { FormField } from "../../components/FormField.tsx";
import { zones } from "../../lib/time/zone.ts";
import { CATCH_UP, OVERLAP } from "./policies.ts";
import { type ScheduleTexts, UNITS } from "./scheduleForm.ts";
import { SchedulePreview } from "./SchedulePreview.tsx";

/** Expressions for a start, by what they mean. */
const EXAMPLES = [
  ["Every hour", "0 * * * *"],
  ["Every day", "0 9 * * *"],
  ["Weekdays", "0 9 * * MON-FRI"],
  ["Mondays", "0 9 * * MON"],
  ["First of the month", "0 9 1 * *"],
] as const;

interface Props {
  schedule: ScheduleTexts;
  /** The schedule in words, when it has some. */
  words: string | null;
  problems: Readonly<Record<string, string>>;
  onChange: (change: Partial<ScheduleTexts>) => void;
}

/** When a schedule fires, and what happens when it cannot. */
export function ScheduleFields({ schedule, words, problems, onChange }: Props): ReactNode {
  const heading = useId();
  const zoneNames = zones();
  const { timeZone } = schedule;
  return (
    <div className="space-y-4">
      <fieldset>
        <legend id={heading} className="mb-1 font-medium">
          Repeats
        </legend>
        <div className="flex flex-wrap gap-x-5 gap-y-1">
          {(
            [
              ["cron", "At set times"],
              ["interval", "At an interval"],
            ] as const
          ).map(([kind, label]) => (
            <label key={kind} className="flex items-center gap-2 pointer-coarse:min-h-11">
              <input
                type="radio"
                name={`${heading}-kind`}
                checked={schedule.kind === kind}
                onChange={() => onChange({ kind })}
              />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
      {schedule.kind === "cron" ? (
        <>
          <div>
            <FormField
              label="Cron expression"
              about="Minute, hour, day of month, month, day of week."
              problem={problems["cron"]}
            >
              {(given) => (
                <input
                  {...given}
                  className={`${given.className} font-mono !text-dense`}
                  value={schedule.cron}
                  spellCheck={false}
                  autoComplete="off"
                  required
                  onChange={(event) => onChange({ cron: event.target.value })}
                />
              )}
            </FormField>
            <div role="group" aria-label="Examples" className="mt-1.5 flex flex-wrap gap-1.5">
              {EXAMPLES.map(([label, cron]) => (
                <button
                  key={label}
                  type="button"
                  aria-pressed={schedule.cron === cron}
                  className="rounded border border-control px-2 py-0.5 text-meta hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-tint aria-pressed:text-accent pointer-coarse:min-h-11"
                  onClick={() => onChange({ cron })}
                >
                  {label}
                </button>
              ))}
            </div>
          </div>
          <FormField
            label="Time zone"
            about="The zone that the expression is read in. It follows daylight saving time."
            problem={problems["timeZone"]}
          >
            {(given) => (
              <select {...given} value={timeZone} onChange={(event) => onChange({ timeZone: event.target.value })}>
                {(zoneNames.includes(timeZone) ? zoneNames : [timeZone, ...zoneNames]).map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </FormField>
        </>
      ) : (
        <FormField label="Every" about="Counted from the moment you save." problem={problems["intervalSeconds"]}>
          {(given) => (
            <div className="flex gap-2">
              <input
                {...given}
                className={`${given.className} !w-28`}
                inputMode="numeric"
                value={schedule.every}
                onChange={(event) => onChange({ every: event.target.value })}
              />
              <select
                aria-label="Unit"
                className="field !w-auto"
                value={schedule.unit}
                onChange={(event) => onChange({ unit: event.target.value })}
              >
                {UNITS.map(([seconds, unit]) => (
                  <option key={seconds} value={seconds}>
                    {unit}
                  </option>
                ))}
              </select>
            </div>
          )}
        </FormField>
      )}
      <SchedulePreview schedule={schedule} words={words} />
      <FormField label="If the last run has not ended" about={OVERLAP[schedule.overlap].sentence}>
        {(given) => (
          <select
            {...given}
            value={schedule.overlap}
            onChange={(event) => onChange({ overlap: event.target.value as ScheduleTexts["overlap"] })}
          >
            {Object.entries(OVERLAP).map(([value, { word }]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <FormField label="After a downtime of the server" about={CATCH_UP[schedule.catchUp].sentence}>
        {(given) => (
          <select
            {...given}
            value={schedule.catchUp}
            onChange={(event) => onChange({ catchUp: event.target.value as ScheduleTexts["catchUp"] })}
          >
            {Object.entries(CATCH_UP).map(([value, { word }]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {schedule.catchUp === "ALL" ? (
        <FormField label="At most" about="Runs to start after a downtime, 1 to 100." problem={problems["catchUpLimit"]}>
          {(given) => (
            <input
              {...given}
              className={`${given.className} !w-28`}
              inputMode="numeric"
              value={schedule.catchUpLimit}
              onChange={(event) => onChange({ catchUpLimit: event.target.value })}
            />
          )}
        </FormField>
      ) : null}
    </div>
  );
}
