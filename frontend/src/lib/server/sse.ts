// Server-sent events of a GraphQL subscription, as fetch delivers them: `EventSource` cannot POST.

/**
 * Passes on each result once the stream is open. Returns when the server completes; throws when the stream is
 * interrupted.
 */
export async function readEvents(answer: Response, opened: () => void, next: (value: unknown) => void): Promise<void> {
  if (!answer.ok || answer.body === null) throw new Error(`The server answered ${answer.status}.`);
  opened();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    // Events come one after the other.
    // oxlint-disable-next-line no-await-in-loop
    const { done, value } = await reader.read();
    if (done) throw new Error("The stream was interrupted.");
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const { event, data } = parse(block);
      if (event === "complete") return;
      if (event === "next") next(JSON.parse(data));
    }
  }
}

function parse(block: string): { event: string; data: string } {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return { event, data: data.join("\n") };
}
