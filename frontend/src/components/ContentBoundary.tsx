import { type ReactNode, useState } from "react";
import { ErrorBoundary, type FallbackProps } from "react-error-boundary";

import { saveText } from "../lib/browser/saveText.ts";
import { Button } from "./Button.tsx";
import { Code } from "./Code.tsx";

interface Props {
  /** What is shown, as a sentence about it begins: `The output of Draft`. */
  what: string;
  /** What it shows: a change of one of these tries it again. */
  of?: readonly unknown[];
  /** Its text as it is written, for when nothing else can be shown; may fail as well. */
  source?: (() => string | null) | undefined;
  /** Shown next to its buttons. */
  beside?: ReactNode;
  children: ReactNode;
}

/** Around what runs, packs, agents and people have written: a fault in showing it stays here, and the page goes on. */
export function ContentBoundary({ what, of = [], source, beside, children }: Props): ReactNode {
  return (
    <ErrorBoundary
      resetKeys={[...of]}
      // oxlint-disable-next-line react/no-unstable-nested-components -- it renders, and is no component
      fallbackRender={(fault) => <NotShown what={what} source={source} beside={beside} {...fault} />}
    >
      {children}
    </ErrorBoundary>
  );
}

// That it failed, and where, React has written into the console by itself.
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
      <p className="max-w-[72ch] text-soft">
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

/** Null when there is no text to be had either. */
function textOf(source: () => string | null): string | null {
  try {
    return source();
  } catch {
    return null;
  }
}

/** What was thrown may be anything. */
export function errorText(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message}`
    : typeof error === "string"
      ? error
      : "The error has no message.";
}
