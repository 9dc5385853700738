import type { ReactNode } from "react";
import { useQuery } from "urql";

import { TextWithCode } from "../../components/TextWithCode.tsx";
import { useDebounced } from "../../lib/hooks/useDebounced.ts";
import { NextFirings } from "./NextFirings.tsx";
import { firesBy, type ScheduleTexts } from "./scheduleForm.ts";
import { SchedulePreviewDocument } from "./triggers.generated.ts";

/** Delay before a typed schedule is sent to the server. */
const TYPING_MS = 250;

interface Props {
  schedule: ScheduleTexts;
  /** The schedule in words, when it has some. */
  words: string | null;
}

/** When a schedule fires, in words and as the server computes it, or why it never does. */
export function SchedulePreview({ schedule, words }: Props): ReactNode {
  const { value: asked, waiting } = useDebounced(firesBy(schedule), TYPING_MS);
  const [{ data, fetching, error }] = useQuery({
    query: SchedulePreviewDocument,
    variables: { schedule: asked ?? {} },
    pause: asked === null,
    // What comes next depends on the time.
    requestPolicy: "network-only",
  });
  const preview = asked === null || error !== undefined ? undefined : data?.previewSchedule;
  const fresh = !waiting && !fetching;
  const issue = fresh ? preview?.issues[0] : undefined;
  const timeZone = schedule.kind === "cron" ? schedule.timeZone : null;
  return (
    <>
      <p
        role="status"
        className={`border-l-2 px-3 py-2 ${issue === undefined ? "border-accent bg-accent-tint" : "border-warn bg-warn-tint"}`}
      >
        {issue !== undefined ? (
          <TextWithCode text={issue.hint === null ? issue.message : `${issue.message} ${issue.hint}`} />
        ) : words === null ? (
          preview === undefined ? (
            "The next firings show here."
          ) : (
            "It fires next:"
          )
        ) : timeZone === null ? (
          `${words}.`
        ) : (
          `${words}, ${timeZone} time.`
        )}
      </p>
      {preview === undefined || preview.nextFirings.length === 0 ? null : (
        <div aria-busy={!fresh} className={fresh ? "" : "opacity-50"}>
          <NextFirings instants={preview.nextFirings} timeZone={timeZone} />
        </div>
      )}
    </>
  );
}
