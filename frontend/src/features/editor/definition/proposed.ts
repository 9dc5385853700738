// The text that a new pipeline starts with.

import { addStep, freeId, setAt } from "./definition.ts";

export const BLANK = 'name: ""\nsteps: []\n';

/** A pipeline that runs `packs`, separated by commas, one after another. The inputs of its steps are empty. */
export function proposedText(name: string, packs: string): string {
  const taken: string[] = [];
  return packs
    .split(",")
    .filter((pack) => pack !== "")
    .reduce(
      (text, pack, index) => {
        const id = freeId(pack.split(".").at(-1) ?? pack, taken);
        taken.push(id);
        return addStep(text, index, { id, pack, input: {} });
      },
      setAt(BLANK, ["name"], name),
    );
}
