import { useEffect, useState } from "react";

/** Readers look for the header of a PDF in as many bytes. */
const HEAD_BYTES = 1024;

/** What the server sends of a file: its first bytes as text, why it refuses, or nothing because it is away. */
export type FileHead = { kind: "head" | "refusal"; text: string } | { kind: "away" };

/**
 * The first bytes of a file; undefined until they are there. Frames, pictures and players do not report why they show
 * nothing.
 */
export function useFileHead(url: string): FileHead | undefined {
  const [found, setFound] = useState<{ url: string; head: FileHead } | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    void headAt(url, asking.signal).then(
      (head) => setFound({ url, head }),
      () => asking.signal.aborted || setFound({ url, head: { kind: "away" } }),
    );
    return () => asking.abort();
  }, [url]);
  return found?.url === url ? found.head : undefined;
}

async function headAt(url: string, signal: AbortSignal): Promise<FileHead> {
  const answer = await fetch(url, { headers: { range: `bytes=0-${HEAD_BYTES - 1}` }, signal });
  if (!answer.ok) return { kind: "refusal", text: (await answer.text()).trim() };
  const head = await answer.arrayBuffer();
  return { kind: "head", text: new TextDecoder("latin1").decode(head.slice(0, HEAD_BYTES)) };
}
