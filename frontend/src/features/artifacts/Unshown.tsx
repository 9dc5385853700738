import type { ReactNode } from "react";

import { buttonLook } from "../../components/Button.tsx";
import type { Artifact } from "./media.ts";

/** In place of a file that cannot be shown: why, and the link that downloads it. */
export function Unshown({ artifact, children }: { artifact: Artifact; children: ReactNode }): ReactNode {
  return (
    <div role="status" className="max-w-2xl border-l-2 border-warn bg-warn-tint px-3 py-2 wrap-anywhere">
      <p className="font-medium">{artifact.name} cannot be shown.</p>
      <p className="mb-3">{children}</p>
      {artifact.downloadUrl === null ? null : (
        <a href={`${artifact.downloadUrl}&download`} download={artifact.name} className={buttonLook("plain")}>
          Download {artifact.name}
        </a>
      )}
    </div>
  );
}
