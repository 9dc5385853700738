import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ARTIFACT_STATUS } from "../../domain/files/ArtifactRows.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { bytes } from "../../lib/text/format.ts";
import { ArtifactPipelinesDocument, ArtifactsDocument } from "./artifacts.generated.ts";
import { type ArtifactsSearch, TYPES } from "./search.ts";

const WORDS: Record<(typeof TYPES)[number], string> = {
  "application/pdf": "PDF",
  "image/*": "Pictures",
  "video/*": "Video",
  "audio/*": "Sound",
  "text/*": "Text",
};

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
        chosen={[search.type, search.pipeline].filter((one) => one !== undefined).length}
      >
        <FilterSelect
          label="Type"
          value={search.type}
          choices={TYPES.map((type) => [type, WORDS[type]] as const)}
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
        <Empty>{Object.keys(filter).length === 0 ? "There are no files yet." : "No file matches these filters."}</Empty>
      ) : (
        <>
          <ul className="divide-y divide-line border-y border-line">
            {data.artifacts.nodes.map((artifact) => (
              <li
                key={artifact.id}
                className="row flex min-h-9 flex-wrap items-center gap-x-6 px-2 py-1.5 text-dense hover:bg-hover"
              >
                <Link
                  to="/artifacts/$artifact"
                  params={{ artifact: artifact.id }}
                  className="min-w-48 flex-1 truncate max-md:w-full max-md:flex-none font-medium text-ink hover:underline"
                >
                  {artifact.name}
                </Link>
                <span className="w-48 truncate text-soft max-md:w-auto max-md:min-w-0" title={artifact.mediaType}>
                  {artifact.mediaType}
                  {ARTIFACT_STATUS[artifact.status] === "" ? "" : ` · ${ARTIFACT_STATUS[artifact.status]}`}
                </span>
                <span className="w-20 text-right text-soft max-md:w-auto">{bytes(artifact.sizeBytes)}</span>
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
                  <Timestamp at={artifact.createdAt} />
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
