// Which files of its run belong to a file, and which pipelines accept it.

import { bareType, OFFICE } from "../../domain/files/mediaTypes.ts";
import type { ArtifactPageQuery } from "./artifacts.generated.ts";

export type Artifact = Extract<NonNullable<ArtifactPageQuery["node"]>, { mediaType: string }>;

/** Kinds of the catalog that a file of a media type is; a picture is no more than a picture. */
export function kindsOf(mediaType: string): string[] {
  const type = bareType(mediaType);
  if (type.startsWith("image/")) return ["image"];
  if (type.startsWith("audio/")) return type === "audio/mpeg" ? ["audio", "mp3"] : ["audio"];
  if (type.startsWith("video/")) return type === "video/mp4" ? ["video", "mp4"] : ["video"];
  if (type === "application/pdf") return ["pdf", "document"];
  if (type === "text/markdown") return ["markdown", "text", "document", "source_content"];
  if (type === "text/html") return ["html", "document"];
  if (type === "text/x-diff") return ["code_diff"];
  if (type === "application/x-subrip") return ["srt_captions"];
  if (type === "application/json") return ["json"];
  if (type.startsWith(`${OFFICE}.wordprocessingml`)) return ["docx", "document"];
  if (type.startsWith(`${OFFICE}.presentationml`)) return ["pptx", "document", "slide_deck"];
  if (type.startsWith(`${OFFICE}.spreadsheetml`)) return ["xlsx", "document"];
  return type.startsWith("text/") ? ["text", "document", "source_content"] : [];
}

interface Named {
  id: string;
  name: string;
  mediaType: string;
}

/** A name without its last ending: `talk.de.vtt` → `talk.de`. */
function stem(name: string): string {
  const dot = name.lastIndexOf(".");
  return (dot > 0 ? name.slice(0, dot) : name).toLowerCase();
}

/** The captions that go with a film or sound, and what is said in it as a text to read. */
export function companions(
  of: Named,
  siblings: readonly Named[],
): { captions: Named | null; transcript: Named | null } {
  const others = siblings.filter(({ id }) => id !== of.id);
  const mine = stem(of.name);
  const near = (name: string) =>
    stem(name) === mine || stem(name).startsWith(`${mine}.`) || stem(name).startsWith(`${mine}-`);
  const best = (fits: (one: Named) => boolean) =>
    others.find((one) => fits(one) && near(one.name)) ??
    (others.filter(fits).length === 1 ? (others.find(fits) ?? null) : null);
  const captions = best(({ mediaType }) => mediaType.startsWith("text/vtt"));
  const transcript = best(
    ({ name, mediaType }) =>
      /transcript/i.test(name) && (mediaType.startsWith("text/") || mediaType === "application/json"),
  );
  return {
    captions,
    transcript: transcript ?? captions ?? best(({ mediaType }) => mediaType === "application/x-subrip"),
  };
}

/** The input of a pipeline that takes the id of a file; null when none does. */
export function fileInput(inputSchema: unknown): string | null {
  const properties = propertiesOf(inputSchema);
  const names = Object.keys(properties);
  return (
    names.find((name) => /(^|_)artifact(_id)?$/.test(name)) ??
    names.find((name) => /\bart_/.test(describes(properties[name]))) ??
    null
  );
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  if (schema === null || typeof schema !== "object" || !("properties" in schema)) return {};
  return (schema.properties ?? {}) as Record<string, unknown>;
}

function describes(property: unknown): string {
  if (property === null || typeof property !== "object" || ("type" in property && property.type !== "string"))
    return "";
  return "description" in property && typeof property.description === "string" ? property.description : "";
}
