// From an answer of `route` to what the page shows of it.

import { own } from "../../lib/json/untrusted.ts";
import { asText, fieldsOf, type Schema } from "../../domain/start/schemaForm.ts";
import type { AskRouteQuery, GapWarningInput, InputSource } from "./ask.generated.ts";

export type RouteAnswer = AskRouteQuery["route"];
export type Gap = RouteAnswer["gapWarnings"][number];

/** A gap as `saveGapProposal` takes it: without the type names that the cache adds to answers. */
export function gapInput({ missingCapability, whyMissing, proposal }: Gap): GapWarningInput {
  const { action, name, summary, packs, inputSchema, outputSchema, integrationPattern, whyUseful } = proposal;
  return {
    missingCapability,
    whyMissing,
    proposal: { action, name, summary, packs, inputSchema, outputSchema, integrationPattern, whyUseful },
  };
}

/** A file attached to a request. */
export interface Attached {
  id: string;
  name: string;
  mediaType: string;
}

/** One of the answers. */
export type Choice = RouteAnswer["alternatives"][number] & { kind: "PACK" | "PIPELINE" };

/** A value that is filled in, and where it is from. */
export interface Suggested {
  value: unknown;
  source: InputSource;
}

/** More answers than these are not worth reading; the catalog has the rest. */
export const SHOWN = 3;
/** Confidence from which an answer “fits”: four in five such answers are right. */
const FITS = 0.8;
export const BY_WORDS = "lexical";

/** The context argument of `route`. */
export function contextOf(files: readonly Attached[]) {
  return files.length === 0
    ? null
    : { files: files.map(({ id, name, mediaType }) => ({ id, name, media_type: mediaType })) };
}

/** The answers that are shown, the best first. */
export function choicesOf({ recommendation, alternatives }: RouteAnswer): Choice[] {
  const { id } = recommendation;
  return [...(id === null ? [] : [{ ...recommendation, id }]), ...alternatives]
    .flatMap((choice) => (choice.kind === "NONE" ? [] : [{ ...choice, kind: choice.kind }]))
    .slice(0, SHOWN);
}

/** What is filled in for an answer. */
export function suggestedFor({ suggestedInputs, inputSources }: Choice): Record<string, Suggested> {
  const values = suggestedInputs as Record<string, unknown>;
  return Object.fromEntries(inputSources.map(({ name, source }) => [name, { value: own(values, name), source }]));
}

/** The texts a form begins with; what is usual is left to the form, which fills it in and records that it did. */
export function textsOfSuggested(
  inputSchema: unknown,
  suggested: Readonly<Record<string, Suggested>>,
): Record<string, string> {
  return Object.fromEntries(
    fieldsOf(inputSchema).flatMap(({ name, kind }) => {
      const given = own(suggested, name);
      return given === undefined || given.source === "DEFAULTS" ? [] : [[name, asText(given.value, kind)]];
    }),
  );
}

/** Where a value is from, shown next to its field; null where the form shows its own. */
export function sourceWords(source: InputSource, decidedBy: string): string | null {
  switch (source) {
    case "REQUEST":
      return "from your request";
    case "CONTEXT":
      return "from your files";
    case "DEFAULTS":
      return null;
    case "MODEL":
      return `suggested by ${decidedBy}`;
    default:
      return source satisfies never;
  }
}

export function fitWords(confidence: number): string {
  return `${confidence >= FITS ? "fits" : "may fit"} · ${Math.round(confidence * 100)}% sure`;
}

/** The fields of a proposal, one text each: `url (string)`. */
export function fieldWords(schema: unknown): string[] {
  const { properties = {}, required = [] } = schema as Schema;
  return Object.entries(properties).map(([name, field]) => {
    const type = [field.type ?? "anything"].flat().join(" or ");
    return `${name} (${type}${required.includes(name) ? "" : ", optional"})`;
  });
}

/** The pipeline a new one may begin from: the nearest answer that is one. */
export function templateOf(answer: RouteAnswer): string | undefined {
  return choicesOf(answer).find(({ kind }) => kind === "PIPELINE")?.id;
}
