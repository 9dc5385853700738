import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { Empty, Page, Section } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { NeedsManage } from "../../domain/administration/NeedsManage.tsx";
import { total } from "../../lib/text/format.ts";
import { CredentialForm } from "./CredentialForm.tsx";
import { CredentialsDocument, type CredentialsQuery } from "./credentials.generated.ts";
import { CredentialStatus } from "./CredentialStatus.tsx";

type Row = CredentialsQuery["credentials"]["nodes"][number];

export function CredentialsPage(): ReactNode {
  const search = useSearch({ from: "/credentials" });
  const navigate = useNavigate({ from: "/credentials" });
  const [{ data, fetching, error }, again] = useQuery({ query: CredentialsDocument, variables: pageArguments(search) });
  const [adding, setAdding] = useState(search.need !== undefined);
  const known = data?.credentials.nodes.find(({ key }) => key === search.need);
  return (
    <Page
      title="Credentials"
      lead="Keys and passwords for packs. A stored value is never shown again."
      actions={
        data === undefined ? null : (
          <Button kind="primary" hidden={adding} onClick={() => setAdding(true)}>
            Add a credential
          </Button>
        )
      }
    >
      <AdminNav />
      {data === undefined ? (
        <NeedsManage what="credentials" fetching={fetching} error={error} />
      ) : (
        <>
          {known === undefined ? null : (
            <p className="mb-4 border-l-2 border-warn bg-warn-tint px-3 py-2">
              A credential called <code className="font-mono text-dense">{known.key}</code> is stored already.{" "}
              <Link
                to="/credentials/$credential"
                params={{ credential: known.id }}
                search={{ return: search.return }}
                className="link"
              >
                See why it did not work
              </Link>
            </p>
          )}
          {adding && known === undefined ? (
            <Section title={search.need === undefined ? "Add a credential" : `Add the credential “${search.need}”`}>
              <CredentialForm
                kinds={data.credentialKinds}
                need={search.need}
                onCancel={() => setAdding(false)}
                onStored={(id) => {
                  again({ requestPolicy: "network-only" });
                  void navigate({
                    to: "/credentials/$credential",
                    params: { credential: id },
                    search: { return: search.return },
                  });
                }}
              />
            </Section>
          ) : null}
          {data.credentials.nodes.length === 0 ? (
            <Empty command="packline credential set github --kind github">
              There are no credentials. A credential is a key or a password, stored encrypted, that only the packs,
              pipelines and callers you share it with can use. Packs that need one say so.
            </Empty>
          ) : (
            <>
              <p className="mb-1 text-right text-dense text-soft">{total(data.credentials.totalCount, "credential")}</p>
              <Table rows={data.credentials.nodes} />
              <Pager info={data.credentials.pageInfo} place={search} />
            </>
          )}
        </>
      )}
    </Page>
  );
}

function Table({ rows }: { rows: readonly Row[] }): ReactNode {
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label="Credentials">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-[22%]">Name</th>
          <th className="w-28">Kind</th>
          <th className="w-32">Fingerprint</th>
          <th>Used by</th>
          <th className="w-36">Last used</th>
          <th className="w-64">Condition</th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {rows.map((row) => (
          <tr
            key={row.id}
            className="row relative border-b border-line hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 max-md:[&>td]:pr-0"
          >
            <td className="max-md:w-full">
              <Link
                to="/credentials/$credential"
                params={{ credential: row.id }}
                className="block truncate font-medium text-ink after:absolute after:inset-0 hover:underline"
                title={row.description ?? row.key}
              >
                {row.key}
              </Link>
            </td>
            <td className="text-soft">{row.kind}</td>
            <td className="truncate font-mono text-meta text-soft">{row.fingerprint}</td>
            <td className="truncate text-soft max-md:w-full" title={row.neededBy.map(({ name }) => name).join(", ")}>
              {row.neededBy.length === 0 ? "no pack needs it" : row.neededBy.map(({ name }) => name).join(", ")}
            </td>
            <td className="text-soft">
              {row.lastUsedAt === null ? "never used" : <Timestamp at={row.lastUsedAt} relative />}
            </td>
            <td className="max-md:w-full">
              <CredentialStatus credential={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
