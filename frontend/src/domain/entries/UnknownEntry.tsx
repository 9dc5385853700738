import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { notFoundHint } from "./notFound.ts";
import { NotFound } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";

interface Props {
  id: string;
  /** The extensions of the response, which name the closest match. */
  extensions: Readonly<Record<string, unknown>> | undefined;
}

/** The page of a pipeline that does not exist. */
export function UnknownPipeline({ id, extensions }: Props): ReactNode {
  const { closest, hint } = notFoundHint(extensions, id);
  return (
    <NotFound
      title="There is no such pipeline"
      onward={
        <Link to="/pipelines" className="link">
          All pipelines
        </Link>
      }
    >
      There is no pipeline named “{id}”.
      {closest === null ? null : (
        <>
          {" "}
          Did you mean{" "}
          <Link to="/pipelines/$pipeline" params={{ pipeline: closest }} className="link">
            {closest}
          </Link>
          ?
        </>
      )}
      {hint === null ? null : (
        <p>
          <TextWithCode text={hint} />
        </p>
      )}
    </NotFound>
  );
}

/** The page of a pack that does not exist. */
export function UnknownPack({ id, extensions }: Props): ReactNode {
  const { closest, hint } = notFoundHint(extensions, id);
  return (
    <NotFound
      title="There is no such pack"
      onward={
        <Link to="/catalog" className="link">
          The catalog
        </Link>
      }
    >
      There is no pack named “{id}”.
      {closest === null ? null : (
        <>
          {" "}
          Did you mean{" "}
          <Link to="/catalog/$pack" params={{ pack: closest }} className="link">
            {closest}
          </Link>
          ?
        </>
      )}
      {hint === null ? null : (
        <p>
          <TextWithCode text={hint} />
        </p>
      )}
    </NotFound>
  );
}
