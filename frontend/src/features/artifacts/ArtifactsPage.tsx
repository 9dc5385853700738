import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ARTIFACT_STATUS } from "../../domain/files/ArtifactRows.tsx";
import { ButtonLink } from "../../components/Button.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { hasPages, PageStrip } from "../../domain/files/PageStrip.tsx";
import { Thumbnail } from "../../domain/files/Thumbnail.tsx";
import { typeWord } from "../../domain/files/typeWord.ts";
import { bytes } from "../../lib/text/format.ts";
import { ArtifactPipelinesDocument, ArtifactsDocument } from "./artifacts.generated.ts";
import { artifactsSearch, type ArtifactsSearch, TYPES } from "./search.ts";

function Nothing({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered)
    return (
      <Empty
        action={
          <ButtonLink to="/artifacts" search={{}}>
            All files
          </ButtonLink>
        }
      >
        No file matches these filters.
      </Empty>
    );
  return (
    <Empty
      action={<ButtonLink to="/pipelines">Choose a pipeline to run</ButtonLink>}
      command="packline artifact send report.pdf"
    >
      There are no files yet. What runs make, such as a deck or a recording, is listed here, and so is what you upload
      to them.
    </Empty>
  );
}

export function ArtifactsPage(): ReactNode {
  const search = useSearch({ from: "/artifacts" });
  const navigate = useNavigate({ from: "/artifacts" });
  const filter = {
    ...(search.q === undefined ? {} : { text: search.q }),
    ...(search.type === undefined ? {} : { mediaTypes: [search.type] }),
    ...(search.pipeline === undefined ? {} : { pipelines: [search.pipeline] }),
  };
  const [{ data: choices }] = useQuery({ query: ArtifactPipelinesDocument });
  const [{ data, fetching, error }] = useQuery({
    query: ArtifactsDocument,
    variables: { filter, orderBy: search.order ?? "NEWEST", ...pageArguments(search) },
  });
  const set = (change: Partial<ArtifactsSearch>) =>
    void navigate({
      to: "/artifacts",
      search: (kept: ArtifactsSearch) => ({ ...kept, ...change, after: undefined, before: undefined }),
      replace: true,
    });
  return (
    <Page title="Artifacts" lead="Every file that a run made or a user uploaded.">
      <FilterBar
        search={
          <SearchBox
            label="Search by name"
            text={search.q ?? ""}
            onSearch={(q) => set({ q: q === "" ? undefined : q })}
          />
        }
        reads={artifactsSearch}
        found={[data?.artifacts.totalCount, "file"]}
        chosen={[search.type, search.pipeline].filter((one) => one !== undefined).length}
      >
        <FilterSelect
          label="Type"
          value={search.type}
          choices={TYPES.map((type) => [type, typeWord(type)] as const)}
          onChange={(type) => set({ type })}
        />
        <FilterSelect
          label="Pipeline"
          value={search.pipeline}
          choices={(choices?.pipelines.nodes ?? []).map(({ key, name }) => [key, name] as const)}
          onChange={(pipeline) => set({ pipeline })}
        />
        <FilterSelect
          label="Order"
          none="Newest first"
          value={search.order}
          choices={[["LARGEST", "Largest first"] as const]}
          onChange={(order) => set({ order })}
        />
      </FilterBar>
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.artifacts.nodes.length === 0 ? (
        <Nothing isFiltered={Object.keys(filter).length > 0} />
      ) : (
        <>
          <ul className="divide-y divide-line border-y border-line">
            {data.artifacts.nodes.map((artifact) => (
              <li
                key={artifact.id}
                className="row flex flex-wrap items-center gap-x-4 px-2 py-1.5 text-dense hover:bg-hover"
              >
                {hasPages(artifact) ? (
                  <>
                    <PageStrip artifact={artifact} to={4} cell="w-18" className="order-first basis-full xl:hidden" />
                    <PageStrip artifact={artifact} to={1} cell="w-14" className="max-xl:hidden" />
                  </>
                ) : (
                  <Thumbnail mediaType={artifact.mediaType} previewUrl={artifact.previewUrl} className="h-10 w-14" />
                )}
                <div className="min-w-48 flex-1 max-md:min-w-0">
                  <Link
                    to="/artifacts/$artifact"
                    params={{ artifact: artifact.id }}
                    className="block truncate font-medium text-ink hover:underline"
                  >
                    {artifact.name}
                  </Link>
                  <p className="truncate text-meta text-soft" title={artifact.mediaType}>
                    {typeWord(artifact.mediaType)} · {bytes(artifact.sizeBytes)}
                    {ARTIFACT_STATUS[artifact.status] === "" ? "" : ` · ${ARTIFACT_STATUS[artifact.status]}`}
                  </p>
                </div>
                {hasPages(artifact) ? (
                  <PageStrip artifact={artifact} from={2} to={4} cell="w-14" className="w-44 max-xl:hidden" />
                ) : null}
                <span className="w-72 truncate max-lg:w-48 max-md:hidden">
                  {artifact.run === null ? (
                    <span className="text-soft">uploaded</span>
                  ) : (
                    <Link to="/runs/$run" params={{ run: artifact.run.id }} className="link">
                      {artifact.run.title}
                    </Link>
                  )}
                </span>
                <span className="w-32 text-right text-soft max-md:ml-auto max-md:w-auto">
                  <Timestamp at={artifact.createdAt} relative />
                </span>
              </li>
            ))}
          </ul>
          <Pager info={data.artifacts.pageInfo} place={search} />
        </>
      )}
    </Page>
  );
}
