import { AudioLines, Braces, Clapperboard, File, FileText, Globe, Image, type LucideIcon, Table } from "lucide-react";
import { type ReactNode, useState } from "react";

const ICONS: readonly (readonly [RegExp, LucideIcon])[] = [
  [/^image\//, Image],
  [/^video\//, Clapperboard],
  [/^audio\//, AudioLines],
  [/^text\/(csv|tab-separated-values)|spreadsheetml/, Table],
  [/^text\/html/, Globe],
  [/json/, Braces],
  [/^text\/|pdf|wordprocessingml|presentationml/, FileText],
];

interface Props {
  mediaType: string;
  previewUrl: string | null;
  className: string;
}

/** A small picture of a file, or the icon of its type. */
export function Thumbnail({ mediaType, previewUrl, className }: Props): ReactNode {
  const [failed, setFailed] = useState<string | null>(null);
  const Icon = ICONS.find(([type]) => type.test(mediaType))?.[1] ?? File;
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
