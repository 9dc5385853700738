import { type FormEvent, type ReactNode, useId, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { useFocusInside } from "../../lib/browser/focus.ts";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { type CredentialKindPartsFragment, SetCredentialDocument } from "./credentials.generated.ts";
import { type Entry, filledFields, freeFields, kindFor } from "./fields.ts";
import { SecretFields } from "./SecretFields.tsx";

interface Props {
  kinds: readonly CredentialKindPartsFragment[];
  /** The key something asks for. */
  need: string | undefined;
  onStored: (id: string) => void;
  onCancel: () => void;
}

/** Stores a new credential and, if chosen, shares it with the packs that need its name. */
export function CredentialForm({ kinds, need, onStored, onCancel }: Props): ReactNode {
  const [key, setKey] = useState(need ?? "");
  const [kindName, setKindName] = useState(() => kindFor(kinds, need));
  const [description, setDescription] = useState("");
  const [expires, setExpires] = useState("");
  const [share, setShare] = useState(true);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [entries, setEntries] = useState<Entry[]>([{ name: "", value: "" }]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, set] = useMutation(SetCredentialDocument);
  const shareId = useId();
  const form = useFocusInside<HTMLFormElement>();
  const kind = kinds.find(({ name }) => name === kindName);
  if (kind === undefined) return null;
  const names = [
    "key",
    "kind",
    "description",
    "expires_at",
    "expiresAt",
    ...kind.fields.map(({ name }) => name),
    ...(kind.freeFields ? ["fields"] : []),
  ];

  async function store(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (kind === undefined) return;
    const until = expires === "" ? null : new Date(`${expires}T23:59:59`);
    if (until !== null && Number.isNaN(until.getTime())) {
      setProblem({
        message: "It is not stored.",
        hint: null,
        details: [],
        fields: { expires_at: "This is not a valid date." },
      });
      return;
    }
    const fields = kind.freeFields ? freeFields(entries) : filledFields(kind, texts);
    const answer = await set({
      key: key.trim(),
      kind: kind.name,
      fields,
      ...(description === "" ? {} : { description }),
      ...(until === null ? {} : { expiresAt: until.toISOString() }),
    });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.setCredential, "CredentialSuccess", names);
    if (refusal !== null) {
      setProblem(refusal);
      return;
    }
    const asking = done.credential.neededBy.map(({ id }) => id);
    if (share && asking.length > 0) {
      const shared = await set({ key: done.credential.key, kind: kind.name, addGrants: asking });
      const second = outcomeOf(shared.error, shared.data?.setCredential, "CredentialSuccess");
      if (second.refusal !== null) {
        setProblem({ ...second.refusal, message: `It is stored, but not shared: ${second.refusal.message}` });
        return;
      }
    }
    onStored(done.credential.id);
  }

  const problems = problem?.fields ?? {};
  return (
    <form ref={form} noValidate onSubmit={(event) => void store(event)} className="mb-8 max-w-2xl space-y-4">
      <FormField label="Name" about="The name packs and pipelines use, such as github." problem={problems["key"]}>
        {(given) => (
          <input
            {...given}
            value={key}
            spellCheck={false}
            autoComplete="off"
            required
            onChange={(event) => setKey(event.target.value)}
          />
        )}
      </FormField>
      <FormField label="Kind" about={<TextWithCode text={kind.description} />} problem={problems["kind"]}>
        {(given) => (
          <select {...given} value={kindName} onChange={(event) => setKindName(event.target.value)}>
            {kinds.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </FormField>
      <SecretFields
        kind={kind}
        texts={texts}
        onTexts={setTexts}
        entries={entries}
        onEntries={setEntries}
        problems={problems}
      />
      <FormField label="What it is for" optional problem={problems["description"]}>
        {(given) => <input {...given} value={description} onChange={(event) => setDescription(event.target.value)} />}
      </FormField>
      <FormField label="Expiry date" optional problem={problems["expiresAt"] ?? problems["expires_at"]}>
        {(given) => (
          <input
            {...given}
            type="date"
            max="9999-12-31"
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
        )}
      </FormField>
      <div className="flex items-start gap-2">
        <input
          id={shareId}
          type="checkbox"
          className="mt-1"
          checked={share}
          onChange={(event) => setShare(event.target.checked)}
        />
        <label htmlFor={shareId}>
          Share it with the packs that use a credential of this name
          <span className="block text-meta text-soft">Nothing else gets it. You can share it with others later.</span>
        </label>
      </div>
      <Notice problem={problem} />
      <div className="flex gap-2">
        <Button type="submit" kind="primary" disabled={fetching}>
          Store the credential
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
