import { AudioLines, Braces, Clapperboard, File, FileText, Globe, Image, type LucideIcon, Table } from "lucide-react";
import { type ReactNode, useState } from "react";

import { type Sort, sortOf } from "./mediaTypes.ts";

const ICONS: Record<Sort, LucideIcon> = {
  picture: Image,
  film: Clapperboard,
  sound: AudioLines,
  table: Table,
  sheet: Table,
  html: Globe,
  json: Braces,
  pdf: FileText,
  document: FileText,
  markdown: FileText,
  diff: FileText,
  text: FileText,
  other: File,
};

interface Props {
  mediaType: string;
  previewUrl: string | null;
  className: string;
}

/** A small picture of a file, or the icon of its type. */
export function Thumbnail({ mediaType, previewUrl, className }: Props): ReactNode {
  const [failed, setFailed] = useState<string | null>(null);
  const Icon = ICONS[sortOf(mediaType)];
  return (
    <span
      className={`grid shrink-0 place-items-center overflow-hidden rounded border border-line bg-panel text-soft ${className}`}
    >
      {previewUrl === null || previewUrl === failed ? (
        <Icon aria-hidden="true" className="size-4.5" />
      ) : (
        <img
          src={previewUrl}
          alt=""
          loading="lazy"
          className="size-full object-contain"
          onError={() => setFailed(previewUrl)}
        />
      )}
    </span>
  );
}
