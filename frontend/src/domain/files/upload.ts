// Sending a file to the server, which keeps it as an artifact.

import { served } from "../../lib/server/base.ts";
import { encoded } from "../../lib/json/foreign.ts";

interface Answer {
  artifact?: { id: string; name: string };
  problem?: { message: string; hint?: string | null };
}

export class NotTaken extends Error {}

/**
 * The id of the artifact that was made.
 *
 * Throws NotTaken with what the server says, or says that it cannot be reached.
 */
export async function upload(file: File): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(served(`/artifacts?name=${encoded(file.name)}`), {
      method: "POST",
      headers: { "content-type": file.type === "" ? "application/octet-stream" : file.type },
      body: file,
    });
  } catch {
    throw new NotTaken("The server did not answer; nothing is known to have been kept.");
  }
  const told = (await answer.json().catch(() => ({}))) as Answer;
  if (told.artifact !== undefined) return told.artifact.id;
  throw new NotTaken(
    [told.problem?.message ?? `The server answered ${answer.status}.`, told.problem?.hint ?? ""].join(" ").trim(),
  );
}
