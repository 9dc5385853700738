import { useEffect, useState } from "react";

/** Readers look for the header of a PDF in as many bytes. */
const HEAD_BYTES = 1024;

/**
 * Why a PDF cannot be shown: in the server's words, or because it is none. Undefined until that is known, null if it can
 * be shown. A frame says nothing about its content: it would show the refusal itself, or an empty page.
 */
export function usePdfProblem(url: string): string | null | undefined {
  const [found, setFound] = useState<{ url: string; problem: string | null } | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    void problemAt(url, asking.signal).then(
      (problem) => setFound({ url, problem }),
      // The frame tries for itself.
      () => asking.signal.aborted || setFound({ url, problem: null }),
    );
    return () => asking.abort();
  }, [url]);
  return found?.url === url ? found.problem : undefined;
}

async function problemAt(url: string, signal: AbortSignal): Promise<string | null> {
  const answer = await fetch(url, { headers: { range: `bytes=0-${HEAD_BYTES - 1}` }, signal });
  if (!answer.ok) return (await answer.text()).trim();
  const head = await answer.arrayBuffer();
  const text = new TextDecoder("latin1").decode(head.slice(0, HEAD_BYTES));
  return text.includes("%PDF-") ? null : "Its content is not that of a PDF, or is damaged.";
}
