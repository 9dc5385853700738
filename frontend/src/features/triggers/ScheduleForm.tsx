import { type ReactNode, useState } from "react";

import { scheduleWords } from "../../domain/triggers/scheduleWords.ts";
import { ScheduleFields } from "./ScheduleFields.tsx";
import { scheduleOf, type ScheduleTexts } from "./scheduleForm.ts";
import { type FormProps, TriggerForm } from "./TriggerForm.tsx";
import type { ScheduleInput } from "./triggers.generated.ts";

const TEMPLATES = [["scheduled_at", "the time it was due"]] as const;

interface Props extends FormProps<ScheduleInput> {
  schedule: ScheduleTexts;
}

/** A schedule with its name and inputs. */
export function ScheduleForm({ schedule: given, ...rest }: Props): ReactNode {
  const [schedule, setSchedule] = useState(given);
  const words = scheduleWords({
    cron: schedule.kind === "cron" ? schedule.cron : null,
    intervalSeconds: schedule.kind === "cron" ? null : Number(schedule.every) * Number(schedule.unit) || null,
  });
  return (
    <TriggerForm
      {...rest}
      usualName={words ?? schedule.cron.trim()}
      aboutName="Shown in lists, and on the runs it starts. Defaults to the schedule in words."
      templates={TEMPLATES}
      read={() => scheduleOf(schedule)}
    >
      {(problems, onTouched) => (
        <ScheduleFields
          schedule={schedule}
          words={words}
          problems={problems}
          onChange={(change) => {
            onTouched();
            setSchedule({ ...schedule, ...change });
          }}
        />
      )}
    </TriggerForm>
  );
}
