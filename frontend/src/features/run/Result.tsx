import type { ReactNode } from "react";
import { useQuery } from "urql";

import { Button, buttonLook, ButtonLink } from "../../components/Button.tsx";
import { hasPages, PageStrip } from "../../domain/files/PageStrip.tsx";
import { typeWord } from "../../domain/files/typeWord.ts";
import { bytes, count, humanise } from "../../lib/text/format.ts";
import { type RunWholeFragment, StepArtifactsDocument, type StepRowFragment } from "./run.generated.ts";

/** The step whose files are the result of the run: the last that made any. Null until the run has succeeded. */
export function resultStep(run: Pick<RunWholeFragment, "state" | "steps">): StepRowFragment | null {
  return run.state === "SUCCEEDED" ? (run.steps.findLast(({ artifacts }) => artifacts.length > 0) ?? null) : null;
}

/** The file that the run made, to open or to download. */
export function Result({ step, onMore }: { step: StepRowFragment; onMore: () => void }): ReactNode {
  const [{ data }] = useQuery({ query: StepArtifactsDocument, variables: { id: step.id } });
  const [file] = step.artifacts;
  if (file === undefined) return null;
  const read = data?.node;
  const addresses =
    read === undefined || read === null || !("artifacts" in read)
      ? undefined
      : read.artifacts.find(({ id }) => id === file.id);
  const others = step.artifacts.length - 1;
  const isPaged = hasPages({ mediaType: file.mediaType, previewUrl: addresses?.previewUrl });
  const shown = addresses === undefined ? null : { ...file, previewUrl: addresses.previewUrl };
  return (
    <section
      aria-label="Result"
      className="mb-4 flex items-center gap-5 rounded-lg border border-line bg-panel p-4 max-md:flex-wrap max-md:gap-4"
    >
      {addresses?.previewUrl === null ? null : (
        // As large before its address is known, so that nothing moves.
        <span
          className={`h-36 w-52 shrink-0 overflow-hidden rounded border border-line bg-page ${isPaged ? "max-md:hidden" : "max-md:h-20 max-md:w-24"}`}
        >
          {addresses === undefined ? null : (
            <img src={addresses.previewUrl} alt="" className="size-full object-contain" />
          )}
        </span>
      )}
      {isPaged ? (
        <span className="h-14 basis-full md:hidden">
          {shown === null ? null : <PageStrip artifact={shown} to={4} cell="w-18" className="" />}
        </span>
      ) : null}
      <div className="min-w-0 flex-1 max-md:min-w-48">
        <h2 className="truncate" title={file.name}>
          {file.name}
        </h2>
        <p className="text-dense text-soft" title={file.mediaType}>
          {typeWord(file.mediaType)} · {bytes(file.sizeBytes)} · made by {humanise(step.key)}
        </p>
        <div className="mt-3 flex flex-wrap gap-2">
          <ButtonLink kind="primary" to="/artifacts/$artifact" params={{ artifact: file.id }}>
            Open
          </ButtonLink>
          {addresses === undefined || addresses.downloadUrl === null ? null : (
            <a href={addresses.downloadUrl} download={file.name} className={buttonLook("plain")}>
              Download
            </a>
          )}
          {others === 0 ? null : (
            <Button kind="quiet" onClick={onMore}>
              {count(others, "more file")}
            </Button>
          )}
        </div>
      </div>
      {isPaged ? (
        <span className="w-74 shrink-0 max-xl:hidden">
          {shown === null ? null : <PageStrip artifact={shown} from={2} to={4} cell="w-24" className="" />}
        </span>
      ) : null}
    </section>
  );
}
