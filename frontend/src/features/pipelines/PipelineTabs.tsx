import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

const TAB = {
  className: "-mb-px border-b-2 border-transparent pb-1.5 font-medium text-soft no-underline hover:text-ink",
};
const HERE = { className: "!border-accent !text-ink", "aria-current": "page" } as const;
const EXACT = { exact: true, includeSearch: false } as const;

/** The parts of one pipeline, each with its own address. */
export function PipelineTabs({ pipeline }: { pipeline: string }): ReactNode {
  const params = { pipeline };
  return (
    <nav aria-label="Of the pipeline" className="mb-5 flex gap-5 border-b border-line">
      <Link to="/pipelines/$pipeline" params={params} {...TAB} activeProps={HERE} activeOptions={EXACT}>
        Overview
      </Link>
      <Link to="/pipelines/$pipeline/versions" params={params} {...TAB} activeProps={HERE} activeOptions={EXACT}>
        Versions
      </Link>
      <Link to="/triggers" search={{ pipeline }} {...TAB}>
        Triggers
      </Link>
      <Link to="/runs" search={{ pipeline }} {...TAB}>
        Runs
      </Link>
    </nav>
  );
}
