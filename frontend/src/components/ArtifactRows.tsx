import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { bytes } from "../lib/format.ts";
import type { ArtifactRowFragment, ArtifactStatus } from "../lib/fragments.generated.ts";

export const ARTIFACT_STATUS: Record<ArtifactStatus, string> = {
  STORED: "",
  PROPOSED: "proposed by an agent, not verified",
  VERIFIED: "verified by a later step",
  QUARANTINED: "held back: it contains a secret",
};

/** Files with their name, type and size; the name leads to the viewer. */
export function ArtifactRows({ artifacts }: { artifacts: readonly (ArtifactRowFragment & { downloadUrl: string | null; previewUrl: string | null })[] }): ReactNode {
  return (
    <ul className="divide-y divide-line">
      {artifacts.map((artifact) => (
        <li key={artifact.id} className="flex items-center gap-3 py-2">
          {artifact.previewUrl === null ? null : (
            <img src={artifact.previewUrl} alt="" loading="lazy" className="h-14 w-20 shrink-0 rounded border border-line bg-panel object-contain" />
          )}
          <div className="min-w-0 flex-1">
            <Link to="/artifacts/$artifact" params={{ artifact: artifact.id }} className="link block truncate font-medium">
              {artifact.name}
            </Link>
            <p className="truncate text-meta text-soft">
              {artifact.mediaType} · {bytes(artifact.sizeBytes)}
              {ARTIFACT_STATUS[artifact.status] === "" ? "" : ` · ${ARTIFACT_STATUS[artifact.status]}`}
            </p>
          </div>
          {artifact.downloadUrl === null ? null : (
            <a className="link text-dense" href={artifact.downloadUrl} download={artifact.name} aria-label={`Download ${artifact.name}`}>
              Download
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
