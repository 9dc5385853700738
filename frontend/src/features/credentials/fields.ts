import type { CredentialKindPartsFragment } from "./credentials.generated.ts";

export interface Entry {
  name: string;
  value: string;
}

/** Fields of a credential whose kind leaves their names free, as typed: `name` and `value` pairs. */
export function freeFields(entries: readonly Entry[]): Record<string, string> {
  return Object.fromEntries(
    entries.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]),
  );
}

/** The fields that were filled in; one left empty is not sent, so that it keeps the value it has. */
export function filledFields(
  kind: CredentialKindPartsFragment,
  texts: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    kind.fields.flatMap(({ name }) => (texts[name] === undefined || texts[name] === "" ? [] : [[name, texts[name]]])),
  );
}

/** The kind that is meant by a key, such as `github` by `github` or `github-work`; the first there is when none fits. */
export function kindFor(kinds: readonly CredentialKindPartsFragment[], key: string | undefined): string {
  const named =
    kinds.find(({ name }) => name === key) ??
    kinds.find(({ name }) => key !== undefined && key.split(/[-_]/).includes(name));
  return (named ?? kinds.find(({ freeFields: free }) => key !== undefined && free) ?? kinds[0])?.name ?? "";
}
