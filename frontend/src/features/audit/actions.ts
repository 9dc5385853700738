import { SCHEMA_JSON } from "../../lib/server/schema.generated.ts";

interface Described {
  mutationType: { name: string };
  types: readonly { name: string; fields?: readonly { name: string }[] }[];
}

/** Audited actions besides commands. */
const BESIDES = ["authenticate", "make_login_link", "rotate_vault_key", "sign_in", "sign_out", "use_credential"];

function commands(): string[] {
  const { __schema: schema } = JSON.parse(SCHEMA_JSON) as { __schema: Described };
  const fields = schema.types.find(({ name }) => name === schema.mutationType.name)?.fields ?? [];
  return fields.map(({ name }) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/** Every action of the audit. */
export const ACTIONS: readonly string[] = [...commands(), ...BESIDES].sort();
