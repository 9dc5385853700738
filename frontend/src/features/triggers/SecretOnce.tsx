import type { ReactNode } from "react";

import { Button } from "../../components/Button.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { useFocusInside } from "../../lib/browser/focus.ts";

interface Props {
  title: string;
  /** Null if the sender has it already. */
  url: string | null;
  secret: string;
  onDone: () => void;
}

/** The secret of a webhook, shown once, and for a new webhook its URL. */
export function SecretOnce({ title, url, secret, onDone }: Props): ReactNode {
  return (
    <section
      ref={useFocusInside()}
      tabIndex={-1}
      aria-label="New secret"
      className="mb-6 max-w-3xl rounded border border-ok bg-ok-tint px-4 py-3"
    >
      <p className="font-medium">{title}</p>
      <p>
        Give {url === null ? "the secret" : "the URL and the secret"} to the sender. Copy the secret now: Packline does
        not show it again.
      </p>
      <dl className="my-3 grid grid-cols-[auto_1fr] items-baseline gap-x-4 gap-y-2 max-md:grid-cols-1 max-md:gap-y-0.5">
        {url === null ? null : (
          <>
            <dt>URL</dt>
            <dd>
              <Copyable text={url} what="URL" />
            </dd>
          </>
        )}
        <dt>Secret</dt>
        <dd>
          <Copyable text={secret} what="secret" />
        </dd>
      </dl>
      <Button onClick={onDone}>Done</Button>
    </section>
  );
}

/** A text to be copied as it is. */
export function Copyable({ text, what }: { text: string; what: string }): ReactNode {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <code className="rounded border border-line bg-page px-2 py-1 font-mono text-dense wrap-anywhere">{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}
