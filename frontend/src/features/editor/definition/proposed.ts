// The text that a new pipeline starts with.

import { addStep, freeId, setAt } from "./definition.ts";

export const BLANK = 'name: ""\nsteps: []\n';

/** What a missing pipeline or pack is proposed with, each a list separated by commas. */
export interface Outline {
  name?: string | undefined;
  packs?: string | undefined;
  /** The inputs, each as `name:type`, or `name?:type` if it is optional. */
  inputs?: string | undefined;
}

/**
 * A pipeline that takes the inputs and runs the packs one after another. A single pack gets the inputs, which are its
 * own; how the first of several uses them is not known, so the inputs of steps are empty.
 */
export function proposedText({ name = "", packs = "", inputs = "" }: Outline): string {
  const taken: string[] = [];
  const wanted = listed(packs);
  const given = listed(inputs).map((one) => {
    const [word = "", type = ""] = one.split(":");
    return { key: word.replace(/\?$/, ""), isRequired: !word.endsWith("?"), type };
  });
  const passed = wanted.length === 1 ? Object.fromEntries(given.map(({ key }) => [key, `\${{ inputs.${key} }}`])) : {};
  const named = setAt(BLANK, ["name"], name);
  return wanted.reduce(
    (text, pack, index) => {
      const id = freeId(pack.split(".").at(-1) ?? pack, taken);
      taken.push(id);
      return addStep(text, index, { id, pack, input: passed });
    },
    given.length === 0
      ? named
      : setAt(named, ["inputs"], {
          type: "object",
          properties: Object.fromEntries(given.map(({ key, type }) => [key, type === "" ? {} : { type }])),
          required: given.filter(({ isRequired }) => isRequired).map(({ key }) => key),
        }),
  );
}

function listed(text: string): string[] {
  return text.split(",").filter((part) => part !== "");
}
