import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { NotFound, Page, Section } from "../../components/Page.tsx";
import { NeedsManage } from "../../domain/administration/NeedsManage.tsx";
import { humanise } from "../../lib/text/format.ts";
import {
  type CredentialKindPartsFragment,
  CredentialPageDocument,
  type CredentialPageQuery,
  DeleteCredentialDocument,
  SetCredentialDocument,
  TestCredentialDocument,
} from "./credentials.generated.ts";
import { type Entry, filledFields, freeFields } from "./fields.ts";
import { Grants } from "./Grants.tsx";
import { CredentialStatus } from "./CredentialStatus.tsx";
import { SecretFields } from "./SecretFields.tsx";

type Credential = Extract<NonNullable<CredentialPageQuery["node"]>, { fingerprint: string }>;

export function CredentialPage(): ReactNode {
  const { credential: id } = useParams({ from: "/credentials/$credential" });
  const [{ data, fetching, error }] = useQuery({ query: CredentialPageDocument, variables: { id } });
  const found = data?.node;
  if (data !== undefined && !fetching && (found === null || found === undefined || !("fingerprint" in found))) {
    return (
      <NotFound
        title="There is no such credential"
        onward={
          <Link to="/credentials" className="link">
            All credentials
          </Link>
        }
      >
        It was deleted, or you need the manage scope to see it.
      </NotFound>
    );
  }
  if (found === null || found === undefined || !("fingerprint" in found))
    return error === undefined ? (
      <NeedsManage what="credentials" fetching={fetching} error={error} />
    ) : (
      <Page title="This credential cannot be loaded">
        <NeedsManage what="credentials" fetching={fetching} error={error} />
      </Page>
    );
  return (
    <Whole key={found.id} credential={found} kind={data?.credentialKinds.find(({ name }) => name === found.kind)} />
  );
}

function Whole({
  credential,
  kind,
}: {
  credential: Credential;
  kind: CredentialKindPartsFragment | undefined;
}): ReactNode {
  const search = useSearch({ from: "/credentials/$credential" });
  const [deleting, setDeleting] = useState(false);
  return (
    <Page
      title={credential.key}
      lead={
        <p className="text-dense">
          {credential.kind} · <CredentialStatus credential={credential} />
        </p>
      }
      actions={
        <>
          {kind?.testable === true ? <TestButton credential={credential} /> : null}
          <Button kind="danger" onClick={() => setDeleting(true)}>
            Delete…
          </Button>
        </>
      }
    >
      <AdminNav />
      {search.return === undefined ? null : (
        <p className="mb-4 border-l-2 border-accent bg-accent-tint px-3 py-2">
          When it works:{" "}
          <Link to={search.return} className="link">
            go back to the page that needs it
          </Link>
        </p>
      )}
      {credential.readable ? null : (
        <div className="mb-5 border-l-2 border-fail bg-fail-tint px-3 py-2">
          <p className="font-medium">Not readable: the vault key has changed since it was stored.</p>
          <p>
            Start the server with the earlier key, in the data folder’s file vault.key or in PACKLINE_VAULT_KEY. Or
            enter the values again below.
          </p>
        </div>
      )}
      <div className="grid gap-x-12 lg:grid-cols-2">
        <div className="min-w-0">
          <Section title="Details">
            <Facts credential={credential} />
          </Section>
          <Section title="Who may use it">
            <Grants credential={credential} />
          </Section>
        </div>
        <Section title="Replace its values">
          {kind === undefined ? (
            <p className="text-soft">This server does not support this kind.</p>
          ) : (
            <Replace credential={credential} kind={kind} />
          )}
        </Section>
      </div>
      {deleting ? <DeleteDialog credential={credential} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

function Facts({ credential }: { credential: Credential }): ReactNode {
  const { description, fieldsSet, fingerprint, createdAt, updatedAt, expiresAt, lastUsedAt, lastTest, neededBy } =
    credential;
  return (
    <dl className="grid grid-cols-[8.5rem_1fr] gap-x-4 gap-y-2 [&>dt]:text-soft">
      {description === null || description === "" ? null : <Fact term="For">{description}</Fact>}
      <Fact term="Fields set">{fieldsSet.map(humanise).join(", ")}</Fact>
      <Fact term="Fingerprint">
        <span className="font-mono text-dense">{fingerprint}</span>
      </Fact>
      <Fact term="Stored">
        <Timestamp at={createdAt} />
        {updatedAt === createdAt ? null : (
          <>
            , replaced <Timestamp at={updatedAt} />
          </>
        )}
      </Fact>
      {expiresAt === null ? null : (
        <Fact term="Expires">
          <Timestamp at={expiresAt} />
        </Fact>
      )}
      <Fact term="Last used">{lastUsedAt === null ? "never" : <Timestamp at={lastUsedAt} />}</Fact>
      {lastTest === null ? null : (
        <Fact term="Last test">
          {lastTest.accepted ? "Accepted" : "Refused"} <Timestamp at={lastTest.at} />: {lastTest.message}
        </Fact>
      )}
      <Fact term="Needed by">
        {neededBy.length === 0
          ? "no pack"
          : neededBy.map(({ id, name }) => (
              <Link
                key={id}
                to="/catalog/$pack"
                params={{ pack: id }}
                className="link mr-3 inline-block font-mono text-dense"
              >
                {name}
              </Link>
            ))}
      </Fact>
    </dl>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }): ReactNode {
  return (
    <>
      <dt>{term}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  );
}

function TestButton({ credential }: { credential: Credential }): ReactNode {
  const [{ fetching }, test] = useMutation(TestCredentialDocument);
  const [outcome, setOutcome] = useState<string | null>(null);

  async function go(): Promise<void> {
    const answer = await test({ id: credential.id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.testCredential, "CredentialSuccess");
    const result = done?.credential.lastTest;
    if (refusal !== null) setOutcome(refusal.message);
    else if (result !== null && result !== undefined)
      setOutcome(`${result.accepted ? "Accepted" : "Refused"}: ${result.message}`);
  }

  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <span role="status" className="max-w-md text-dense text-soft empty:absolute">
        {fetching ? "Asking the service…" : outcome}
      </span>
      <Button disabled={fetching} onClick={() => void go()}>
        Test it
      </Button>
    </span>
  );
}

function Replace({ credential, kind }: { credential: Credential; kind: CredentialKindPartsFragment }): ReactNode {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [entries, setEntries] = useState<Entry[]>([{ name: "", value: "" }]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [replaced, setReplaced] = useState(false);
  const [{ fetching }, set] = useMutation(SetCredentialDocument);
  const names = [...kind.fields.map(({ name }) => name), "fields"];
  const fields = kind.freeFields ? freeFields(entries) : filledFields(kind, texts);

  async function go(event: FormEvent): Promise<void> {
    event.preventDefault();
    const answer = await set({ key: credential.key, kind: kind.name, fields });
    const { refusal } = outcomeOf(answer.error, answer.data?.setCredential, "CredentialSuccess", names);
    setProblem(refusal);
    setReplaced(refusal === null);
    if (refusal !== null) return;
    setTexts({});
    setEntries([{ name: "", value: "" }]);
  }

  return (
    <form noValidate onSubmit={(event) => void go(event)} className="max-w-2xl space-y-4">
      <SecretFields
        kind={kind}
        texts={texts}
        onTexts={setTexts}
        entries={entries}
        onEntries={setEntries}
        problems={problem?.fields ?? {}}
        set={credential.readable ? credential.fieldsSet : []}
      />
      <Notice problem={problem} />
      <div className="flex items-center gap-3">
        <Button type="submit" disabled={fetching || Object.keys(fields).length === 0}>
          Replace
        </Button>
        <span role="status" className="text-dense text-soft">
          {replaced ? "Replaced. Runs that start now use the new value." : ""}
        </span>
      </div>
    </form>
  );
}

function DeleteDialog({ credential, onClose }: { credential: Credential; onClose: () => void }): ReactNode {
  const [, remove] = useMutation(DeleteCredentialDocument);
  const navigate = useNavigate();
  const users = [
    ...new Set([
      ...credential.neededBy.map(({ name }) => name),
      ...credential.grants.map((grant) =>
        "key" in grant ? grant.title : "called" in grant ? grant.called : "name" in grant ? grant.name : grant.id,
      ),
    ]),
  ];

  async function go(): Promise<Problem | null> {
    const answer = await remove({ id: credential.id });
    const { refusal } = outcomeOf(answer.error, answer.data?.deleteCredential, "DeleteSuccess");
    if (refusal === null) await navigate({ to: "/credentials" });
    return refusal;
  }

  return (
    <Confirm
      title={`Delete the credential “${credential.key}”?`}
      word="Delete permanently"
      keep="Cancel"
      onClose={onClose}
      onConfirm={go}
    >
      {users.length === 0 ? (
        <p>No pack needs it, and it is not shared.</p>
      ) : (
        <>
          <p>These use it and stop working until you add another:</p>
          <ul className="list-disc pl-5">
            {users.map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </>
      )}
      <p className="text-soft">The value cannot be recovered. Running steps may keep it until they end.</p>
    </Confirm>
  );
}
