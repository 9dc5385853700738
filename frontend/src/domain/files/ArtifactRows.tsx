import { Link } from "@tanstack/react-router";
import { BadgeCheck, CircleDashed, Lock } from "lucide-react";
import type { ReactNode } from "react";

import { bytes, humanise } from "../../lib/text/format.ts";
import { hasPages, PageStrip } from "./PageStrip.tsx";
import { Thumbnail } from "./Thumbnail.tsx";
import { typeWord } from "./typeWord.ts";
import type { ArtifactRowFragment, ArtifactStatus } from "../fragments.generated.ts";

export const ARTIFACT_STATUS: Record<ArtifactStatus, string> = {
  STORED: "",
  PROPOSED: "written by an agent, not verified",
  VERIFIED: "verified by a later step",
  QUARANTINED: "quarantined: it contains a secret",
};

const STANDING: Partial<Record<ArtifactStatus, { icon: typeof BadgeCheck; ink: string }>> = {
  PROPOSED: { icon: CircleDashed, ink: "text-soft" },
  VERIFIED: { icon: BadgeCheck, ink: "text-ok" },
  QUARANTINED: { icon: Lock, ink: "text-fail" },
};

/** The verification status of a file, in words and with an icon; nothing for an ordinary file. */
function ArtifactStanding({ artifact: { status, verifiedBy } }: { artifact: ArtifactRowFragment }): ReactNode {
  const standing = STANDING[status];
  if (standing === undefined) return null;
  const { icon: Icon, ink } = standing;
  return (
    <p className={`flex items-center gap-1 text-meta ${ink}`}>
      <Icon aria-hidden="true" className="size-3.5 shrink-0" />
      {status === "VERIFIED" && verifiedBy !== null
        ? `verified by ${humanise(verifiedBy.key)}`
        : ARTIFACT_STATUS[status]}
    </p>
  );
}

/** Files with their name, type and size; the name leads to the viewer. */
export function ArtifactRows({
  artifacts,
}: {
  artifacts: readonly (ArtifactRowFragment & { downloadUrl: string | null; previewUrl: string | null })[];
}): ReactNode {
  return (
    <ul className="divide-y divide-line">
      {artifacts.map((artifact) => (
        <li key={artifact.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
          {hasPages(artifact) ? (
            <PageStrip artifact={artifact} to={4} cell="w-18" className="basis-full" />
          ) : (
            <Thumbnail mediaType={artifact.mediaType} previewUrl={artifact.previewUrl} className="h-14 w-20" />
          )}
          <div className="min-w-0 flex-1">
            <Link
              to="/artifacts/$artifact"
              params={{ artifact: artifact.id }}
              className="link block truncate font-medium"
            >
              {artifact.name}
            </Link>
            <p className="truncate text-meta text-soft" title={artifact.mediaType}>
              {typeWord(artifact.mediaType)} · {bytes(artifact.sizeBytes)}
            </p>
            <ArtifactStanding artifact={artifact} />
          </div>
          {artifact.downloadUrl === null ? null : (
            <a
              className="link text-dense"
              href={artifact.downloadUrl}
              download={artifact.name}
              aria-label={`Download ${artifact.name}`}
            >
              Download
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
