import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ARTIFACT_STATUS } from "../../components/ArtifactRows.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Code } from "../../components/JsonView.tsx";
import { Moment } from "../../components/Moment.tsx";
import { lost } from "../../components/Notice.tsx";
import { Absent, Page, Unread } from "../../components/Page.tsx";
import { bytes, count, duration, humanise } from "../../lib/format.ts";
import { ArtifactPageDocument, type ArtifactPageQuery } from "./artifacts.generated.ts";

type Artifact = Extract<NonNullable<ArtifactPageQuery["node"]>, { mediaType: string }>;

/** One file: what it is, where it came from, what there is to see of it. */
export function ArtifactView({ id }: { id: string }): ReactNode {
  // Addresses for downloads end after some minutes, so they are always asked for anew.
  const [{ data, fetching, error }] = useQuery({ query: ArtifactPageDocument, variables: { id }, requestPolicy: "network-only" });
  const artifact = data?.node;
  if (data !== undefined && !fetching && (artifact === null || artifact === undefined || !("mediaType" in artifact))) {
    return <Absent title="There is no such file" onward={<Link to="/artifacts" className="link">All artifacts</Link>}>No file {id} is kept here, or it is not yours to see.</Absent>;
  }
  if (artifact === null || artifact === undefined || !("mediaType" in artifact)) return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  return <Whole artifact={artifact} />;
}

function Whole({ artifact }: { artifact: Artifact }): ReactNode {
  const facts = [artifact.mediaType, bytes(artifact.sizeBytes)];
  if (artifact.pageCount !== null) facts.push(count(artifact.pageCount, "page"));
  if (artifact.width !== null && artifact.height !== null) facts.push(`${artifact.width} × ${artifact.height}`);
  if (artifact.durationSeconds !== null) facts.push(duration(artifact.durationSeconds));
  if (ARTIFACT_STATUS[artifact.status] !== "") facts.push(ARTIFACT_STATUS[artifact.status]);
  return (
    <Page
      title={artifact.name}
      lead={<p className="text-dense">{facts.join(" · ")}</p>}
      actions={
        artifact.downloadUrl === null ? null : (
          <>
            <a href={artifact.downloadUrl} target="_blank" rel="noreferrer" className="rounded border border-control px-3 py-[5px] font-medium hover:bg-hover">
              Open
            </a>
            <a href={artifact.downloadUrl} download={artifact.name} className="rounded border border-accent bg-accent px-3 py-[5px] font-medium text-on-accent hover:opacity-90">
              Download
            </a>
          </>
        )
      }
    >
      <p className="mb-5 text-dense text-soft">
        {artifact.run === null ? "Uploaded" : "Made by "}
        {artifact.run === null ? null : (
          <Link to="/runs/$run" params={{ run: artifact.run.id }} search={artifact.producedBy === null ? {} : { step: artifact.producedBy.runStep.key }} className="link">
            {artifact.run.title}
            {artifact.producedBy === null ? "" : `, ${humanise(artifact.producedBy.runStep.key)}`}
          </Link>
        )}
        {" · "}
        <Moment at={artifact.createdAt} />
        {artifact.pinned ? " · kept for good" : null}
        {artifact.expiresAt === null ? null : (
          <>
            {" · kept until "}
            <Moment at={artifact.expiresAt} />
          </>
        )}
        {" · "}
        <span className="font-mono text-meta">{artifact.id}</span> <CopyButton text={artifact.id} what="id" />
      </p>
      <Preview artifact={artifact} />
    </Page>
  );
}

function Preview({ artifact }: { artifact: Artifact }): ReactNode {
  const { downloadUrl, mediaType, name } = artifact;
  if (downloadUrl === null) {
    return <p className="text-soft">{artifact.status === "QUARANTINED" ? "It is held back because it contains a known secret. Whoever may manage the server can release it." : "Its content has been erased."}</p>;
  }
  if (mediaType.startsWith("video/")) {
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- what a run has made carries its own captions or none
    return <video controls src={downloadUrl} className="max-h-[70vh] max-w-full rounded border border-line bg-black" />;
  }
  if (mediaType.startsWith("audio/")) {
    // oxlint-disable-next-line jsx-a11y/media-has-caption
    return <audio controls src={downloadUrl} className="w-full max-w-2xl" />;
  }
  if (artifact.preview !== null && artifact.previewKind === "TEXT") return <Code text={artifact.preview} label={`Beginning of ${name}`} />;
  if (artifact.previewUrl !== null) {
    return <img src={artifact.previewUrl} alt={`What ${name} looks like`} className="max-h-[70vh] max-w-full rounded border border-line bg-panel" />;
  }
  if (artifact.preview !== null) return <Code text={artifact.preview} label={`Beginning of ${name}`} />;
  return <p className="text-soft">{artifact.previewProblem ?? "There is no preview of this type of file."}</p>;
}
