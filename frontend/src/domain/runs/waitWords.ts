import { when } from "../../lib/text/format.ts";
import { serverNow } from "../../lib/time/clock.ts";

/** What a run waits for, and until when if that is known. */
export function waitWords({ message, until }: { message: string; until: string | null }): string {
  return until === null ? message : `${message}, at ${when(until, serverNow())}`;
}
