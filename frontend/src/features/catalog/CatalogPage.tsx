import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { AreaIcon } from "../../domain/entries/AreaIcon.tsx";
import { type Area, areaOf, byArea } from "../../domain/entries/areas.ts";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { CatalogDocument, type CatalogQuery } from "./catalog.generated.ts";
import { catalogFilter, catalogSearch, type CatalogSearch } from "./search.ts";
import { useKinds } from "./useKinds.ts";

type Entry = CatalogQuery["catalog"]["nodes"][number];

/** Entries of a page: all that ship with Packline, so that no area is split. */
const ENTRIES = 100;

export function CatalogPage(): ReactNode {
  const search = useSearch({ from: "/catalog" });
  const navigate = useNavigate({ from: "/catalog" });
  const filter = catalogFilter(search);
  const kinds = useKinds();
  const [{ data, fetching, error }] = useQuery({
    query: CatalogDocument,
    variables: { filter, ...pageArguments(search, ENTRIES) },
  });
  const set = (change: Partial<CatalogSearch>) =>
    void navigate({
      to: "/catalog",
      search: (kept: CatalogSearch) => ({ ...kept, ...change, after: undefined, before: undefined }),
      replace: true,
    });
  return (
    <Page title="Catalog" lead="Everything you can run: packs, and pipelines made of packs.">
      <FilterBar
        search={
          <SearchBox
            label="Search the catalog"
            text={search.q ?? ""}
            onSearch={(q) => set({ q: q === "" ? undefined : q })}
          />
        }
        reads={catalogSearch}
        found={[data?.catalog.totalCount, "entry", "entries"]}
        chosen={[search.kind, search.accepts, search.produces, search.usable].filter((one) => one !== undefined).length}
      >
        <FilterSelect
          label="Kind"
          value={search.kind}
          choices={[
            ["PACK", "Packs"],
            ["PIPELINE", "Pipelines"],
          ]}
          onChange={(kind) => set({ kind })}
        />
        <FilterSelect
          label="I have"
          value={search.accepts}
          choices={choicesOf(kinds, search.accepts)}
          onChange={(accepts) => set({ accepts })}
        />
        <FilterSelect
          label="I want"
          value={search.produces}
          choices={choicesOf(kinds, search.produces)}
          onChange={(produces) => set({ produces })}
        />
        <FilterSelect
          label="Runs here"
          value={search.usable}
          choices={[["yes", "Only what can run here"]]}
          onChange={(usable) => set({ usable })}
        />
      </FilterBar>
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.catalog.nodes.length === 0 ? (
        <Empty
          action={
            <ButtonLink to="/catalog" search={{}}>
              Everything in the catalog
            </ButtonLink>
          }
        >
          {search.accepts !== undefined && search.produces !== undefined
            ? "Nothing converts one to the other in a single run. Two runs may: search for an intermediate kind."
            : "Nothing in the catalog matches."}
        </Empty>
      ) : (
        <>
          {search.q === undefined ? (
            <Areas entries={data.catalog.nodes} />
          ) : (
            // By relevance.
            <ul className="divide-y divide-line border-y border-line">
              {data.catalog.nodes.map((entry) => (
                <Row key={entry.id} entry={entry} area={areaOf(entry)} />
              ))}
            </ul>
          )}
          <Pager info={data.catalog.pageInfo} place={search} />
        </>
      )}
    </Page>
  );
}

/** Kinds to choose from, including the one in the address. */
function choicesOf(kinds: readonly string[], chosen: string | undefined): (readonly [string, string])[] {
  const all = chosen === undefined || kinds.includes(chosen) ? kinds : [...kinds, chosen];
  return all.map((kind) => [kind, kind.replaceAll("_", " ")] as const);
}

/** The entries by area, with links to each. */
function Areas({ entries }: { entries: readonly Entry[] }): ReactNode {
  const areas = byArea(entries);
  return (
    <>
      {areas.length < 3 ? null : (
        <nav
          aria-label="Areas"
          className="mb-4 flex flex-wrap gap-1.5 text-dense max-md:flex-nowrap max-md:overflow-x-auto max-md:pb-1"
        >
          {areas.map(({ area: { key, word, Icon }, entries: { length } }) => (
            <a
              key={key}
              href={`#${key}`}
              className="inline-flex shrink-0 items-center gap-1.5 rounded border border-line px-2 py-1 text-soft hover:bg-hover hover:text-ink"
            >
              <Icon aria-hidden="true" className="size-4 text-accent" />
              {word}
              <span className="text-meta">{length}</span>
            </a>
          ))}
        </nav>
      )}
      {areas.map(({ area: { key, word, Icon }, entries: of }) => (
        <section key={key} id={key} aria-label={word} className="mb-6 scroll-mt-4">
          <h2 className="mb-1 flex items-center gap-2">
            <Icon aria-hidden="true" className="size-4.5 text-accent" />
            {word}
          </h2>
          <ul className="divide-y divide-line border-y border-line">
            {of.map((entry) => (
              <Row key={entry.id} entry={entry} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** `area` where the list itself does not say it. */
function Row({ entry, area }: { entry: Entry; area?: Area }): ReactNode {
  const name = "font-medium text-ink no-underline after:absolute after:inset-0 hover:underline shrink-0 max-md:shrink";
  return (
    <li className="relative flex items-baseline gap-6 px-2 py-2.5 hover:bg-hover max-md:flex-wrap max-md:gap-1">
      {area === undefined ? null : <AreaIcon area={area} />}
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-x-3 max-md:flex-wrap">
          {entry.__typename === "Pipeline" ? (
            <Link to="/pipelines/$pipeline" params={{ pipeline: entry.key }} className={name}>
              {entry.name}
            </Link>
          ) : (
            <Link to="/catalog/$pack" params={{ pack: entry.id }} className={`${name} font-mono text-dense`}>
              {entry.name}
            </Link>
          )}
          <span className="min-w-0 truncate text-dense text-soft max-md:whitespace-normal">
            {entry.__typename === "Pipeline" ? "pipeline" : "pack"} ·{" "}
            <Kinds accepts={entry.metadata.accepts} produces={entry.metadata.produces} most={3} />
          </span>
        </p>
        {entry.metadata.typicalUse === null ? null : (
          <p className="truncate text-dense text-soft max-xl:line-clamp-2 max-xl:whitespace-normal">
            <TextWithCode text={entry.metadata.typicalUse} />
          </p>
        )}
      </div>
      {entry.availability.usable ? null : (
        <p
          className="w-64 shrink-0 truncate text-right text-dense text-warn max-md:w-full max-md:text-left"
          title={entry.availability.missing[0]?.message}
        >
          {entry.availability.missing[0]?.message.replaceAll("`", "")}
        </p>
      )}
    </li>
  );
}
