// What sort of file a media type is, and how the page shows it.

/** What a file is to a reader. */
export type Sort =
  | "picture"
  | "pdf"
  | "sound"
  | "film"
  | "markdown"
  | "html"
  | "json"
  | "diff"
  | "table"
  | "text"
  | "document"
  | "sheet"
  | "other";
export type Shown = Exclude<Sort, "document" | "sheet">;

/** Pictures every browser draws; others have a preview at best. */
const DRAWN = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
]);
const TEXTS = new Set([
  "application/xml",
  "application/yaml",
  "application/x-subrip",
  "application/javascript",
  "application/toml",
  "application/x-ndjson",
]);
const READ_AS_TEXT: ReadonlySet<Sort> = new Set(["markdown", "html", "json", "diff", "table", "text"]);
export const OFFICE = "application/vnd.openxmlformats-officedocument";

/** The media type without its parameters: `text/html; charset=utf-8` → `text/html`. */
export function bareType(mediaType: string): string {
  return mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
}

export function sortOf(mediaType: string): Sort {
  const type = bareType(mediaType);
  if (type.startsWith("image/")) return "picture";
  if (type === "application/pdf") return "pdf";
  if (type.startsWith("audio/")) return "sound";
  if (type.startsWith("video/")) return "film";
  if (type === "text/markdown") return "markdown";
  if (type === "text/html") return "html";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (type === "text/x-diff") return "diff";
  if (type === "text/csv" || type === "text/tab-separated-values") return "table";
  if (type.startsWith(`${OFFICE}.spreadsheetml`)) return "sheet";
  if (type.startsWith(OFFICE)) return "document";
  return type.startsWith("text/") || TEXTS.has(type) || type.endsWith("+xml") ? "text" : "other";
}

export function shownAs(mediaType: string): Shown {
  const sort = sortOf(mediaType);
  if (sort === "picture") return DRAWN.has(bareType(mediaType)) ? "picture" : "other";
  return sort === "document" || sort === "sheet" ? "other" : sort;
}

/** Whether a file can be compared line by line; a picture that is a text, such as an SVG, can. */
export function isText(mediaType: string): boolean {
  return READ_AS_TEXT.has(sortOf(mediaType)) || bareType(mediaType).endsWith("+xml");
}
