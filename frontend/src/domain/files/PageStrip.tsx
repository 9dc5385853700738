import { type ReactNode, type SyntheticEvent, useState } from "react";

import { sortOf } from "./mediaTypes.ts";
import { Thumbnail } from "./Thumbnail.tsx";

/** Height of a page's cell in the picture, relative to its width. */
const RATIO = 3 / 4;

interface Props {
  artifact: { name: string; mediaType: string; previewUrl: string | null };
  /** The first page shown; one is the thumbnail of the file. */
  from?: 1 | 2;
  /** The last page shown, if there are so many; the server draws 4. */
  to: 1 | 4;
  /** Width of a page. */
  cell: string;
  className: string;
}

/**
 * Whether a file has pages to show next to one another, such as the slides of a deck. While the address of its preview
 * is undefined, that is not yet loaded, it may have.
 */
export function hasPages({
  mediaType,
  previewUrl,
}: {
  mediaType: string;
  previewUrl: string | null | undefined;
}): boolean {
  return sortOf(mediaType) === "pdf" && previewUrl !== null;
}

/**
 * The first pages of a document, cut out of one picture in which they are one below another.
 *
 * How many there are is read off the picture, so the caller reserves the space for all.
 */
export function PageStrip({ artifact, from = 1, to, cell, className }: Props): ReactNode {
  const [drawn, setDrawn] = useState<{ of: string; pages: number } | null>(null);
  const address = `${artifact.previewUrl}&pages=first`;
  const pages = drawn?.of === address ? drawn.pages : null;
  function measure({ currentTarget: { naturalWidth, naturalHeight } }: SyntheticEvent<HTMLImageElement>): void {
    setDrawn({ of: address, pages: Math.round(naturalHeight / (naturalWidth * RATIO)) });
  }
  const last = Math.min(to, pages ?? from);
  const shown = Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index);
  // Until its picture is here, a page after the first may not exist.
  const isUncertain = pages === null && from > 1;
  return (
    <span className={`flex gap-1 ${className}`}>
      {shown.length === 0 ? (
        from === 1 && <Thumbnail mediaType={artifact.mediaType} previewUrl={null} className={cell} />
      ) : (
        <span
          role="img"
          aria-hidden={isUncertain}
          aria-label={last > from ? `Pages ${from} to ${last} of ${artifact.name}` : `Page ${from} of ${artifact.name}`}
          className="flex gap-1"
        >
          {shown.map((page) => (
            <span
              key={page}
              className={`aspect-4/3 overflow-hidden rounded border ${cell} ${isUncertain ? "border-transparent" : "border-line bg-panel"}`}
            >
              <img
                src={address}
                alt=""
                loading="lazy"
                className="w-full max-w-none"
                style={{ marginTop: `${-100 * RATIO * (page - 1)}%` }}
                onLoad={measure}
                onError={() => setDrawn({ of: address, pages: 0 })}
              />
            </span>
          ))}
        </span>
      )}
    </span>
  );
}
