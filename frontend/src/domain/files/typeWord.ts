// What people call a media type.

import { bareType, OFFICE } from "./mediaTypes.ts";

const WORDS: Readonly<Record<string, string>> = {
  "image/*": "Pictures",
  "video/*": "Video",
  "audio/*": "Sound",
  "text/*": "Text",
  "application/pdf": "PDF",
  "application/json": "JSON",
  "application/zip": "ZIP",
  "application/yaml": "YAML",
  "application/x-subrip": "Captions",
  "text/vtt": "Captions",
  "text/markdown": "Markdown",
  "text/html": "HTML",
  "text/csv": "CSV",
  "text/tab-separated-values": "TSV",
  "text/plain": "Text",
  "text/x-diff": "Diff",
  [`${OFFICE}.wordprocessingml.document`]: "Word",
  [`${OFFICE}.presentationml.presentation`]: "PowerPoint",
  [`${OFFICE}.spreadsheetml.sheet`]: "Excel",
};
const KINDS: Readonly<Record<string, string>> = { image: "picture", video: "video", audio: "sound", font: "font" };

/** What people call a media type: `PDF`, `PNG picture`; the type itself when they have no word for it. */
export function typeWord(mediaType: string): string {
  const type = bareType(mediaType);
  const word = WORDS[type];
  if (word !== undefined) return word;
  const [family = "", form = ""] = type.split("/");
  const kind = KINDS[family];
  return kind === undefined ? mediaType : `${form.replace(/^x-|\+xml$/g, "").toUpperCase()} ${kind}`;
}
