// Which build of the page this tab runs, and which one the server serves.

import { withBase } from "./base.ts";

/** The scripts of a page by file name; each name holds a digest, so they name its build. */
function scriptsOf(page: Document): string {
  return [...page.querySelectorAll('script[type="module"][src]')]
    .map((script) => script.getAttribute("src")?.split("/").at(-1) ?? "")
    .toSorted()
    .join(" ");
}

const RUNNING = typeof document === "undefined" ? "" : scriptsOf(document);

/** Whether the server serves another build than this tab runs. False when that cannot be found out. */
export async function isOutdated(running: string = RUNNING): Promise<boolean> {
  try {
    const answer = await fetch(withBase("/"), { cache: "no-store" });
    if (!answer.ok) return false;
    const served = scriptsOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
    return served !== "" && served !== running;
  } catch {
    return false;
  }
}
