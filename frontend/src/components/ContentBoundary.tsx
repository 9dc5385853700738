import { type ReactNode, useState } from "react";
import { ErrorBoundary, type FallbackProps } from "react-error-boundary";

import { saveText } from "../lib/browser/saveText.ts";
import { retryFailedParts, useRetryRound } from "../lib/server/lazyComponent.ts";
import { Button } from "./Button.tsx";
import { Code } from "./Code.tsx";

interface Props {
  /** The subject of the error message: `The output of Draft`. */
  what: string;
  /** The values shown: a change of one of them renders the content again. */
  of?: readonly unknown[];
  /** The source text to show instead of the content. May throw. */
  source?: (() => string | null) | undefined;
  /** Shown next to its buttons. */
  beside?: ReactNode;
  children: ReactNode;
}

/**
 * An error boundary around content from runs, packs, agents and users: an error in rendering it does not break the
 * page.
 */
export function ContentBoundary({ what, of = [], source, beside, children }: Props): ReactNode {
  const round = useRetryRound();
  return (
    <ErrorBoundary
      resetKeys={[...of, round]}
      onReset={retryFailedParts}
      // oxlint-disable-next-line react/no-unstable-nested-components -- it renders, and is no component
      fallbackRender={(fault) => <NotShown what={what} source={source} beside={beside} {...fault} />}
    >
      {children}
    </ErrorBoundary>
  );
}

// React logs the error itself.
function NotShown({
  what,
  source,
  beside,
  error,
  resetErrorBoundary,
}: Omit<Props, "of" | "children"> & FallbackProps): ReactNode {
  const [open, setOpen] = useState(false);
  const text = source === undefined ? null : textOf(source);
  return (
    <div role="alert" className="my-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2.5 text-ink">
      <p className="font-medium wrap-anywhere">{what} cannot be shown.</p>
      <p className="max-w-reading text-soft">
        An error occurred while displaying it. The rest of the page works, and nothing has changed on the server. If
        trying again does not help, reload the page.
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button onClick={resetErrorBoundary}>Try again</Button>
        {text === null ? null : (
          <>
            <Button aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Hide the text" : "Show as text"}
            </Button>
            <Button onClick={() => saveText(`${what}.txt`, text, "text/plain")}>Download as text</Button>
          </>
        )}
        {beside}
      </div>
      {open && text !== null ? (
        <div className="mt-2">
          <Code text={text} label={`${what}, as text`} />
        </div>
      ) : null}
      <details className="mt-2">
        <summary className="link w-fit text-dense">What failed</summary>
        <div className="mt-1">
          <Code text={errorText(error)} label="What failed" />
        </div>
      </details>
    </div>
  );
}

/** Null when the source text cannot be read either. */
function textOf(source: () => string | null): string | null {
  try {
    return source();
  } catch {
    return null;
  }
}

/** Any value can be thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message}`
    : typeof error === "string"
      ? error
      : "The error has no message.";
}
