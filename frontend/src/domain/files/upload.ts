// Uploads a file to the server, which stores it as an artifact.

import { withBase } from "../../lib/server/base.ts";
import { encoded } from "../../lib/json/untrusted.ts";

interface Answer {
  artifact?: { id: string; name: string };
  problem?: { message: string; hint?: string | null };
}

export class UploadError extends Error {}

/**
 * Uploads the file and returns the id of its artifact.
 *
 * Throws UploadError with the server's message, or when the server cannot be reached.
 */
export async function upload(file: File): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(withBase(`/artifacts?name=${encoded(file.name)}`), {
      method: "POST",
      headers: { "content-type": file.type === "" ? "application/octet-stream" : file.type },
      body: file,
    });
  } catch {
    throw new UploadError("The server did not answer. The file may not have been uploaded.");
  }
  const body = (await answer.json().catch(() => ({}))) as Answer;
  if (body.artifact !== undefined) return body.artifact.id;
  throw new UploadError(
    [body.problem?.message ?? `The server answered ${answer.status}.`, body.problem?.hint ?? ""].join(" ").trim(),
  );
}
