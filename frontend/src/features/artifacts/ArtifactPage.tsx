import { Link, useNavigate, useParams, useRouter, useSearch } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useQuery } from "urql";

import { buttonLook } from "../../components/Button.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { focusOnceShown } from "../../lib/browser/focus.ts";
import { problemOfError } from "../../lib/server/problem.ts";
import { NotFound, LoadingOrProblem, useTitle } from "../../components/Page.tsx";
import { bytes, count, duration, humanise } from "../../lib/text/format.ts";
import { useLatest } from "../../lib/hooks/useLatest.ts";
import { ArtifactLookDocument, ArtifactPageDocument } from "./artifacts.generated.ts";
import { ARTIFACT_STATUS } from "../../domain/files/ArtifactRows.tsx";
import { typeWord } from "../../domain/files/typeWord.ts";
import { Content } from "./Content.tsx";
import { PinButton, Release } from "./PinAndRelease.tsx";
import type { Artifact } from "./media.ts";
import { UseIn } from "./UseIn.tsx";

/** The file viewer: arrows lead through the files of the run, Escape leads back. */
export function ArtifactPage(): ReactNode {
  const { artifact: id } = useParams({ from: "/artifacts/$artifact" });
  // Download URLs expire after some minutes, so the query always goes to the server.
  const [{ data, fetching, error }] = useQuery({
    query: ArtifactPageDocument,
    variables: { id },
    requestPolicy: "cache-and-network",
  });
  const artifact = data?.node;
  if (data !== undefined && !fetching && (artifact === null || artifact === undefined || !("mediaType" in artifact))) {
    return (
      <NotFound
        title="There is no such file"
        onward={
          <Link to="/artifacts" className="link">
            All artifacts
          </Link>
        }
      >
        No file {id} exists here, or you may not see it.
      </NotFound>
    );
  }
  if (artifact === null || artifact === undefined || !("mediaType" in artifact))
    return (
      <LoadingOrProblem
        page="This file cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  return <Viewer key={artifact.id} artifact={artifact} />;
}

function Viewer({ artifact }: { artifact: Artifact }): ReactNode {
  useTitle(artifact.name);
  useLook(artifact);
  const search = useSearch({ from: "/artifacts/$artifact" });
  const leave = useLeave(artifact);
  const siblings = (artifact.run?.artifacts.nodes ?? []).toReversed();
  const place = siblings.findIndex(({ id }) => id === artifact.id);
  const before = siblings[place - 1];
  const after = place === -1 ? undefined : siblings[place + 1];
  useArrows(before?.id, after?.id, leave);
  return (
    <>
      <header className="mb-4 border-b border-line pb-3">
        <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
          <button
            type="button"
            onClick={leave}
            className="rounded border border-control p-1.5 hover:bg-hover pointer-coarse:min-h-11 pointer-coarse:min-w-11"
            aria-label="Close"
            title="Close · Esc"
          >
            <X aria-hidden="true" className="m-auto size-4" />
          </button>
          <div className="min-w-0 grow basis-72 md:basis-0">
            <h1 className="wrap-anywhere">{artifact.name}</h1>
            <p className="text-dense text-soft wrap-anywhere" title={artifact.mediaType}>
              {factsOf(artifact).join(" · ")}
            </p>
          </div>
          {siblings.length < 2 || place === -1 ? null : (
            <nav aria-label="Files of the run" className="flex items-center gap-1 text-dense text-soft">
              <Arrow to={before} word="Previous file" Icon={ChevronLeft} />
              {place + 1} of {siblings.length}
              <Arrow to={after} word="Next file" Icon={ChevronRight} />
            </nav>
          )}
          <Actions artifact={artifact} />
        </div>
        <Origin artifact={artifact} />
      </header>
      {artifact.status === "QUARANTINED" ? (
        <Release artifact={artifact} />
      ) : (
        <ContentBoundary what={artifact.name} of={[artifact, search]}>
          <Content artifact={artifact} search={search} />
        </ContentBoundary>
      )}
    </>
  );
}

/** Interval and number of polls for a file the server has not inspected yet. */
const LOOK_MS = 2000;
const LOOKS = 60;

/** Polls until the server knows the preview. The cache updates the file shown. */
function useLook({ id, previewKind }: Artifact): void {
  const [, look] = useQuery({ query: ArtifactLookDocument, variables: { id }, pause: true });
  const known = previewKind !== null;
  useEffect(() => {
    if (known) return undefined;
    let left = LOOKS;
    const timer = setInterval(() => {
      left -= 1;
      if (left === 0) clearInterval(timer);
      look({ requestPolicy: "network-only" });
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [known, look]);
}

function factsOf(artifact: Artifact): string[] {
  const facts = [typeWord(artifact.mediaType), bytes(artifact.sizeBytes)];
  if (artifact.pageCount !== null) facts.push(count(artifact.pageCount, "page"));
  if (artifact.width !== null && artifact.height !== null) facts.push(`${artifact.width} × ${artifact.height}`);
  if (artifact.durationSeconds !== null) facts.push(duration(artifact.durationSeconds));
  if (ARTIFACT_STATUS[artifact.status] !== "") facts.push(ARTIFACT_STATUS[artifact.status]);
  return facts;
}

function Arrow({
  to,
  word,
  Icon,
}: {
  to: { id: string; name: string } | undefined;
  word: string;
  Icon: typeof ChevronLeft;
}): ReactNode {
  const look = "rounded p-1.5 pointer-coarse:min-h-11 pointer-coarse:min-w-11";
  if (to === undefined) {
    return (
      <span className={`${look} opacity-40`} aria-hidden="true">
        <Icon className="size-4" />
      </span>
    );
  }
  return (
    <Link
      to="/artifacts/$artifact"
      params={{ artifact: to.id }}
      replace
      className={`${look} text-ink hover:bg-hover`}
      aria-label={`${word}: ${to.name}`}
      title={to.name}
    >
      <Icon aria-hidden="true" className="size-4" />
    </Link>
  );
}

function Actions({ artifact }: { artifact: Artifact }): ReactNode {
  return (
    <div className="flex flex-wrap gap-2">
      <UseIn artifact={artifact} />
      <PinButton artifact={artifact} />
      {artifact.downloadUrl === null ? null : (
        <a href={`${artifact.downloadUrl}&download`} download={artifact.name} className={buttonLook("primary")}>
          Download
        </a>
      )}
    </div>
  );
}

/** Source, time, retention, id and digest of a file. */
function Origin({ artifact }: { artifact: Artifact }): ReactNode {
  return (
    <p className="mt-1.5 text-dense text-soft wrap-anywhere">
      {artifact.run === null ? "Uploaded" : "Made by "}
      {artifact.run === null ? null : (
        <Link
          to="/runs/$run"
          params={{ run: artifact.run.id }}
          search={artifact.producedBy === null ? {} : { step: artifact.producedBy.runStep.key }}
          className="link underline"
        >
          {artifact.producedBy === null ? "" : `${humanise(artifact.producedBy.runStep.key)} in `}
          {artifact.run.title}
        </Link>
      )}
      {" · "}
      <Timestamp at={artifact.createdAt} />
      {artifact.pinned ? " · kept forever" : null}
      {artifact.expiresAt === null || artifact.pinned ? null : (
        <>
          {" · kept until "}
          <Timestamp at={artifact.expiresAt} />
        </>
      )}
      {" · "}
      <span className="font-mono text-meta">{artifact.id}</span> <CopyButton text={artifact.id} what="id" />
      {" · SHA-256 "}
      <span className="font-mono text-meta">{artifact.digest.replace(/^sha256:/, "").slice(0, 12)}…</span>{" "}
      <CopyButton text={artifact.digest} what="digest" />
    </p>
  );
}

/** Goes back in history; without history, to the run that made the file. There, its link gets the focus. */
function useLeave(artifact: Artifact): () => void {
  const router = useRouter();
  const navigate = useNavigate();
  return () => {
    focusOnceShown(`main a[href$="/artifacts/${artifact.id}"]`);
    if (router.history.canGoBack()) router.history.back();
    else if (artifact.run === null) void navigate({ to: "/artifacts" });
    else
      void navigate({
        to: "/runs/$run",
        params: { run: artifact.run.id },
        search: artifact.producedBy === null ? {} : { step: artifact.producedBy.runStep.key },
      });
  };
}

/** Arrows and Escape, unless somebody types, plays or has a dialog open. */
function useArrows(before: string | undefined, after: string | undefined, leave: () => void): void {
  const navigate = useNavigate();
  const latest = useLatest({ before, after, leave });
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector("dialog[open]") !== null
      )
        return;
      if (
        event.target instanceof HTMLElement &&
        event.target.closest("input, textarea, select, audio, video, [role=region]") !== null
      )
        return;
      if (event.key === "Escape") latest.current.leave();
      const to =
        event.key === "ArrowLeft"
          ? latest.current.before
          : event.key === "ArrowRight"
            ? latest.current.after
            : undefined;
      if (to !== undefined) void navigate({ to: "/artifacts/$artifact", params: { artifact: to }, replace: true });
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [latest, navigate]);
}
