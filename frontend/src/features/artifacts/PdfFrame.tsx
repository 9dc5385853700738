import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { Artifact } from "./ArtifactPage.tsx";

/** Pages a strip has room for; a long document is turned in the frame itself. */
const STRIP = 60;

/** A document in the browser's own viewer, with a strip of its pages beside it; the page stands in the address. */
export function PdfFrame({ artifact, url, page }: { artifact: Artifact; url: string; page: number }): ReactNode {
  const pages = artifact.pageCount ?? 0;
  // No `sandbox` attribute: browsers refuse PDF with it. The file itself comes with a policy that runs nothing.
  // oxlint-disable-next-line react/iframe-missing-sandbox
  const frame = <iframe src={`${url}#page=${page}`} title={artifact.name} className="h-[78vh] w-full min-w-0 shrink-0 rounded md:flex-1 border border-line bg-panel" />;
  if (pages < 2 || pages > STRIP) return frame;
  return (
    <div className="flex gap-3 max-md:flex-col">
      <nav aria-label="Pages" className="flex max-h-[78vh] shrink-0 gap-1 overflow-auto md:w-14 md:flex-col">
        {Array.from({ length: pages }, (_, index) => index + 1).map((number) => (
          <Link
            key={number}
            to="/artifacts/$artifact"
            params={{ artifact: artifact.id }}
            search={{ page: number }}
            replace
            aria-label={`Page ${number}`}
            aria-current={number === page ? "page" : undefined}
            className={`rounded border px-2 py-1 text-center text-dense hover:bg-hover ${number === page ? "border-accent font-medium text-accent" : "border-line text-soft"}`}
          >
            {number}
          </Link>
        ))}
      </nav>
      {frame}
    </div>
  );
}
