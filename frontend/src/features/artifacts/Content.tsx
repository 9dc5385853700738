import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { ArtifactAddressDocument } from "./artifacts.generated.ts";
import { shownAs } from "../../domain/files/mediaTypes.ts";
import { type Artifact, companions } from "./media.ts";
import type { ArtifactSearch } from "./search.ts";
import { PdfFrame } from "./PdfFrame.tsx";
import { TextContent } from "./TextContent.tsx";
import { Unshown } from "./Unshown.tsx";
import { useFileHead } from "./useFileHead.ts";

/** Shows or plays a file by its type. */
export function Content({ artifact, search }: { artifact: Artifact; search: ArtifactSearch }): ReactNode {
  const { downloadUrl, previewUrl, name } = artifact;
  if (downloadUrl === null) return <p className="text-soft">Its content has been erased.</p>;
  if (artifact.sizeBytes === 0) return <Unshown name={artifact.name} why="The file is empty." />;
  const shown = shownAs(artifact.mediaType);
  switch (shown) {
    case "picture":
      return <Picture key={downloadUrl} artifact={artifact} url={downloadUrl} />;
    case "pdf":
      return <PdfFrame artifact={artifact} url={downloadUrl} page={search.page ?? 1} />;
    case "sound":
    case "film":
      return <Player key={downloadUrl} artifact={artifact} url={downloadUrl} film={shown === "film"} />;
    case "markdown":
    case "html":
    case "json":
    case "diff":
    case "table":
    case "text":
      return <TextContent artifact={artifact} shown={shown} source={search.view === "source"} />;
    case "other":
      return previewUrl === null ? (
        <p className="text-soft">
          <TextWithCode text={artifact.previewProblem ?? "There is no preview of this type of file."} />
        </p>
      ) : (
        <img
          src={previewUrl}
          alt={`What ${name} looks like`}
          className="max-h-[75vh] max-w-full rounded border border-line bg-panel"
        />
      );
    default:
      return shown satisfies never;
  }
}

interface RefusedProps {
  name: string;
  url: string;
  /** Whether the connection broke while it loaded. */
  cut?: boolean;
  onAgain: () => void;
}

/** In place of a file that the browser did not take: the server's refusal, a lost connection, or a fault of the file. */
function Refused({ name, url, cut = false, onAgain }: RefusedProps): ReactNode {
  const head = useFileHead(url);
  if (head === undefined) return null;
  if (head.kind === "refusal") return <Unshown name={name} why={head.text} isRefusal />;
  if (cut || head.kind === "away")
    return (
      <Unshown name={name} why="The server could not be reached.">
        <Button className="mt-2" onClick={onAgain}>
          Try again
        </Button>
      </Unshown>
    );
  return <Unshown name={name} why="It is damaged, or in a format that this browser does not know." />;
}

const ZOOMS = [0, 1, 2, 4] as const;

/** A picture, fitted to the window or up to four times as large. */
function Picture({ artifact, url }: { artifact: Artifact; url: string }): ReactNode {
  const { name } = artifact;
  const [broken, setBroken] = useState(false);
  const [zoom, setZoom] = useState(0);
  const [width, setWidth] = useState<number | null>(null);
  const factor = ZOOMS[zoom] ?? 0;
  if (broken) return <Refused name={name} url={url} onAgain={() => setBroken(false)} />;
  return (
    <>
      <div className="mb-2 flex items-center gap-2">
        <Button disabled={zoom === 0} aria-label="Smaller" onClick={() => setZoom(zoom - 1)}>
          −
        </Button>
        <Button disabled={zoom === ZOOMS.length - 1} aria-label="Larger" onClick={() => setZoom(zoom + 1)}>
          +
        </Button>
        <span role="status" className="text-dense text-soft">
          {factor === 0 ? "Fitted" : `${factor * 100}%`}
        </span>
      </div>
      <div
        // It scrolls once it is larger than the window: a keyboard has to reach it.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={`Picture ${name}`}
        className="max-h-[78vh] overflow-auto rounded border border-line bg-panel"
      >
        <img
          src={url}
          alt={`What ${name} looks like`}
          onError={() => setBroken(true)}
          onLoad={(event) => setWidth(event.currentTarget.naturalWidth)}
          {...(factor === 0 || width === null ? {} : { width: width * factor })}
          className={factor === 0 ? "mx-auto max-h-[76vh] max-w-full object-contain" : "max-w-none"}
        />
      </div>
    </>
  );
}

/** Audio or video with captions from the same run, and the transcript below. */
function Player({ artifact, url, film }: { artifact: Artifact; url: string; film: boolean }): ReactNode {
  const [error, setError] = useState<MediaError | null>(null);
  const { captions, transcript } = companions(artifact, artifact.run?.artifacts.nodes ?? []);
  const [{ data }] = useQuery({
    query: ArtifactAddressDocument,
    variables: { id: captions?.id ?? "" },
    pause: captions === null,
    requestPolicy: "network-only",
  });
  const address =
    data?.node !== null && data?.node !== undefined && "downloadUrl" in data.node ? data.node.downloadUrl : null;
  const track = address === null ? null : <track kind="captions" src={address} label="Captions" default />;
  return (
    <>
      {error !== null ? (
        <Refused
          name={artifact.name}
          url={url}
          cut={error.code === MediaError.MEDIA_ERR_NETWORK}
          onAgain={() => setError(null)}
        />
      ) : film ? (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- captions from the same run, if any
        <video
          controls
          src={url}
          onError={(event) => setError(event.currentTarget.error)}
          {...(artifact.previewUrl === null ? {} : { poster: artifact.previewUrl })}
          className="max-h-[72vh] max-w-full rounded border border-line bg-black"
        >
          {track}
        </video>
      ) : (
        // oxlint-disable-next-line jsx-a11y/media-has-caption
        <audio controls src={url} onError={(event) => setError(event.currentTarget.error)} className="w-full max-w-2xl">
          {track}
        </audio>
      )}
      {transcript === null ? (
        error === null && <p className="mt-3 text-dense text-soft">It has no captions and no transcript.</p>
      ) : (
        <details className="mt-4" open={!film}>
          <summary className="link w-fit">Transcript: {transcript.name}</summary>
          <div className="mt-2">
            <TextContent
              artifact={transcript}
              shown={shownAs(transcript.mediaType) === "markdown" ? "markdown" : "text"}
              source={false}
            />
          </div>
        </details>
      )}
    </>
  );
}
