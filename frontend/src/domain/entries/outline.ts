// What a new pipeline starts with where something is missing, as the address of the editor has it.

import { fieldsOf, type Schema } from "../start/schemaForm.ts";

interface Proposed {
  action: "PROPOSE_PACK" | "DRAFT_PIPELINE";
  name: string;
  packs: readonly string[];
  inputSchema: unknown;
}

/** The pipeline that is proposed, or one with the pack that is: its name, packs in order, and inputs. */
export function outlineOf({ action, name, packs, inputSchema }: Proposed): Record<"name" | "packs" | "inputs", string> {
  const properties = (inputSchema as Schema).properties ?? {};
  const inputs = fieldsOf(inputSchema).map(({ name: key, required }) => {
    const type = [properties[key]?.type ?? []].flat()[0] ?? "";
    return `${key}${required ? "" : "?"}:${type}`;
  });
  return { name, packs: (action === "DRAFT_PIPELINE" ? packs : [name]).join(","), inputs: inputs.join(",") };
}
