import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Artifact } from "./media.ts";
import { Unshown } from "./Unshown.tsx";
import { useFileHead } from "./useFileHead.ts";

/** Pages a strip has room for and the server draws; a longer document is turned in the frame itself. */
const STRIP = 60;
const FRAME = "w-full min-w-0 flex-1 rounded border border-line bg-panel max-md:h-[78vh] max-md:flex-none";

/** A PDF in the browser's viewer, next to a strip of its pages. The page is in the address. */
export function PdfFrame({ artifact, url, page }: { artifact: Artifact; url: string; page: number }): ReactNode {
  const pages = artifact.pageCount ?? 0;
  const strip = pages >= 2 && pages <= STRIP;
  // Our strip replaces the viewer's own.
  const place = `#page=${page}${strip ? "&navpanes=0" : ""}`;
  // A frame would show the refusal itself, or an empty page.
  const head = useFileHead(`${url}&frame`);
  if (head?.kind === "refusal") return <Unshown name={artifact.name} why={head.text} isRefusal />;
  if (head?.kind === "head" && !head.text.includes("%PDF-"))
    return <Unshown name={artifact.name} why="Its content is not that of a PDF, or is damaged." />;
  return (
    <div className="flex h-[80vh] gap-3 max-md:h-auto max-md:flex-col">
      {strip ? <Strip artifact={artifact} pages={pages} page={page} /> : null}
      {head === undefined ? (
        <div className={FRAME} />
      ) : (
        // No `sandbox` attribute: browsers refuse PDF with it. `frame` makes the server remove active content.
        // oxlint-disable-next-line react/iframe-missing-sandbox
        <iframe src={`${url}&frame${place}`} title={artifact.name} className={FRAME} />
      )}
    </div>
  );
}

/** Every page, small: cut out of one picture, in which each has a cell of 4 to 3. */
function Strip({ artifact, pages, page }: { artifact: Artifact; pages: number; page: number }): ReactNode {
  const [drawn, setDrawn] = useState(true);
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    list.current?.querySelector(`:nth-child(${page})`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [page]);
  return (
    <nav ref={list} aria-label="Pages" className="flex shrink-0 gap-1.5 overflow-auto p-0.5 md:w-[8.25rem] md:flex-col">
      {Array.from({ length: pages }, (_, index) => index + 1).map((number) => (
        <Link
          key={number}
          to="/artifacts/$artifact"
          params={{ artifact: artifact.id }}
          search={{ page: number }}
          replace
          aria-label={`Page ${number}`}
          aria-current={number === page ? "page" : undefined}
          className={`block shrink-0 rounded border p-1 text-center text-meta hover:bg-hover max-md:w-20 ${number === page ? "border-accent bg-accent-tint font-medium text-accent" : "border-line text-soft"}`}
        >
          <span className="block aspect-[4/3] overflow-hidden">
            {drawn && artifact.previewUrl !== null ? (
              // The address of a preview holds its signature; `pages` asks for all of them in one picture.
              <img
                src={`${artifact.previewUrl}&pages`}
                alt=""
                className="w-full max-w-none"
                style={{ transform: `translateY(${(-100 * (number - 1)) / pages}%)` }}
                onError={() => setDrawn(false)}
              />
            ) : null}
          </span>
          {number}
        </Link>
      ))}
    </nav>
  );
}
