import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../components/Page.tsx";
import { PipelinesTakingDocument } from "./artifacts.generated.ts";
import { type Artifact, fileInput, kindsOf } from "./media.ts";

/** Starts a pipeline that takes files of this type, with this one filled in. */
export function UseIn({ artifact }: { artifact: Artifact }): ReactNode {
  const [open, setOpen] = useState(false);
  if (kindsOf(artifact.mediaType).length === 0 || artifact.downloadUrl === null) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Use in…</Button>
      {open ? (
        <Dialog title={`Use “${artifact.name}” in`} onClose={() => setOpen(false)}>
          <Choices artifact={artifact} />
          <div className="mt-5 text-right">
            <Button onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

function Choices({ artifact }: { artifact: Artifact }): ReactNode {
  const [{ data, fetching, error }] = useQuery({
    query: PipelinesTakingDocument,
    variables: { kinds: kindsOf(artifact.mediaType) },
  });
  if (data === undefined)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const fitting = data.catalog.nodes.flatMap((entry) => {
    const input = fileInput(entry.inputSchema);
    return entry.__typename === "Pipeline" && input !== null ? [{ ...entry, input }] : [];
  });
  if (fitting.length === 0) return <p className="text-soft">No pipeline accepts a file of this type.</p>;
  return (
    <ul className="divide-y divide-line border-y border-line">
      {fitting.map(({ id, key, name, input, metadata }) => (
        <li key={id} className="row py-1.5">
          <Link
            to="/pipelines/$pipeline/run"
            params={{ pipeline: key }}
            search={{ [`input.${input}`]: artifact.id }}
            className="link font-medium"
          >
            {name}
          </Link>{" "}
          <span className="text-dense text-soft">
            <Kinds accepts={metadata.accepts} produces={metadata.produces} />
          </span>
        </li>
      ))}
    </ul>
  );
}
