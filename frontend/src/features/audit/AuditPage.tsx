import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { JsonView } from "../../components/JsonView.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { Empty, Page } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { NeedsManage } from "../../domain/administration/NeedsManage.tsx";
import { humanise } from "../../lib/text/format.ts";
import { ACTIONS } from "./actions.ts";
import { AuditActorsDocument, AuditDocument, type AuditQuery } from "./audit.generated.ts";
import { auditFilter, auditSearch, type AuditSearch } from "./search.ts";

type Entry = AuditQuery["audit"]["nodes"][number];

export function AuditPage(): ReactNode {
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const filter = auditFilter(search);
  const [{ data, fetching, error }] = useQuery({
    query: AuditDocument,
    variables: { filter, ...pageArguments(search) },
  });
  const [{ data: actors }] = useQuery({ query: AuditActorsDocument });
  const set = (change: Partial<AuditSearch>) =>
    void navigate({
      to: "/audit",
      search: (kept: AuditSearch) => ({ ...kept, ...change, after: undefined, before: undefined }),
      replace: true,
    });
  return (
    <Page
      title="Audit"
      lead="Every command, including refused ones, every sign-in and every use of a credential. Entries cannot be changed."
    >
      <AdminNav />
      <FilterBar
        search={
          <SearchBox
            label="Search the details"
            text={search.q ?? ""}
            onSearch={(q) => set({ q: q === "" ? undefined : q })}
          />
        }
        reads={auditSearch}
        found={[data?.audit.totalCount, "entry", "entries"]}
        chosen={[search.action, search.actor, search.from, search.to].filter((one) => one !== undefined).length}
      >
        <FilterSelect
          label="Action"
          value={search.action}
          choices={ACTIONS.map((action) => [action, humanise(action)] as const)}
          onChange={(action) => set({ action })}
        />
        <FilterSelect
          label="Who"
          value={search.actor}
          choices={(actors?.callers.nodes ?? []).map(({ id, name }) => [id, name] as const)}
          onChange={(actor) => set({ actor })}
        />
        <Day label="From" day={search.from} onChange={(from) => set({ from })} />
        <Day label="To" day={search.to} onChange={(to) => set({ to })} />
      </FilterBar>
      {data === undefined ? (
        <NeedsManage what="the audit" fetching={fetching} error={error} />
      ) : data.audit.nodes.length === 0 ? (
        Object.keys(filter).length === 0 ? (
          <Empty>
            There are no entries yet. Every command, sign-in and use of a credential is listed here, with who did it and
            whether it was refused.
          </Empty>
        ) : (
          <Empty
            action={
              <ButtonLink to="/audit" search={{}}>
                All entries
              </ButtonLink>
            }
          >
            No entry matches these filters.
          </Empty>
        )
      ) : (
        <>
          <Table entries={data.audit.nodes} />
          <Pager info={data.audit.pageInfo} place={search} />
        </>
      )}
    </Page>
  );
}

function Day({
  label,
  day,
  onChange,
}: {
  label: string;
  day: string | undefined;
  onChange: (day: string | undefined) => void;
}): ReactNode {
  return (
    <label className="flex items-center gap-1.5 text-soft">
      {label}
      <input
        type="date"
        className="field !w-auto"
        value={day ?? ""}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      />
    </label>
  );
}

function Table({ entries }: { entries: readonly Entry[] }): ReactNode {
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label="Audit">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-28">Outcome</th>
          <th className="w-[22%]">Action</th>
          <th>On</th>
          <th className="w-[20%] max-xl:w-[15%]">Who</th>
          <th className="w-36 max-xl:w-28">When</th>
          <th className="w-20">
            <span className="sr-only">Detail</span>
          </th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {entries.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function Line({ entry }: { entry: Entry }): ReactNode {
  const [open, setOpen] = useState(false);
  const { accepted, action, actor, onBehalfOf, at, detail } = entry;
  const hasDetail = detail !== null && typeof detail === "object" && Object.keys(detail).length > 0;
  return (
    <>
      <tr className="row border-b border-line hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 max-md:[&>td]:pr-0 max-md:items-center">
        <td>
          <span
            className={`inline-flex items-center gap-1.5 align-bottom font-medium ${accepted ? "text-ok" : "text-fail"}`}
          >
            <StateGlyph state={accepted ? "SUCCEEDED" : "FAILED"} />
            {accepted ? "Accepted" : "Refused"}
          </span>
        </td>
        <td className="truncate font-medium" title={action}>
          {humanise(action)}
        </td>
        <td className="truncate text-soft max-md:w-full">
          <Target target={entry.target} />
        </td>
        <td className="truncate text-soft">
          {actor === null ? "unknown caller" : actor.name}
          {onBehalfOf === null ? "" : ` for ${onBehalfOf.name}`}
        </td>
        <td className="text-soft">
          <Timestamp at={at} relative />
        </td>
        <td className="text-right max-md:ml-auto">
          {hasDetail ? (
            <button
              type="button"
              className="link"
              aria-expanded={open}
              aria-label={`Detail of ${humanise(action)}`}
              onClick={() => setOpen(!open)}
            >
              Detail
            </button>
          ) : null}
        </td>
      </tr>
      {open ? (
        <tr className="border-b border-line bg-panel max-md:block">
          <td colSpan={6} className="px-3 py-2 max-md:block">
            <JsonView value={detail} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function Target({ target }: { target: Entry["target"] }): ReactNode {
  if (target === null) return null;
  switch (target.__typename) {
    case "Run":
      return (
        <Link to="/runs/$run" params={{ run: target.id }} className="link">
          {target.title}
        </Link>
      );
    case "Pipeline":
      return (
        <Link to="/pipelines/$pipeline" params={{ pipeline: target.key }} className="link">
          {target.name}
        </Link>
      );
    case "Pack":
      return (
        <Link to="/catalog/$pack" params={{ pack: target.id }} className="link font-mono">
          {target.called}
        </Link>
      );
    case "Credential":
      return (
        <Link to="/credentials/$credential" params={{ credential: target.id }} className="link">
          {target.handle}
        </Link>
      );
    case "Artifact":
      return (
        <Link to="/artifacts/$artifact" params={{ artifact: target.id }} className="link">
          {target.file}
        </Link>
      );
    case "ApiToken":
      return `token ${target.token}`;
    case "Caller":
      return target.caller;
    default:
      return <span className="font-mono text-meta">{target.id}</span>;
  }
}
