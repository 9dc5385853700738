// Sends the queries of the current address, asks for its part of the page and prepares what takes time, before the main
// script has loaded. A separate script, small enough to run while the main one is still loading.

import { isDismissed } from "../features/home/checklist.ts";
import { prefetch } from "../lib/server/prefetch.ts";
import { decoded } from "../lib/json/untrusted.ts";
import { BASE, withBase } from "../lib/server/base.ts";
import { pageAt, preloadPage } from "./pageParts.ts";
import { PREFETCHED } from "./prefetch.generated.ts";

const path = location.pathname.slice(BASE.length);
const page = pageAt(path);

const parts = document.getElementById("parts")?.textContent;
if (parts != null && page !== undefined)
  preloadPage(page, JSON.parse(parts) as Record<string, string[]>, withBase("/assets/"));
prefetch("Viewer", PREFETCHED.Viewer, {});
if (path === "/") {
  prefetch("Home", PREFETCHED.Home, {});
  if (!isDismissed()) prefetch("Checklist", PREFETCHED.Checklist, {});
}
// Filters are left to the list.
if (location.search === "") {
  if (page === "/runs") prefetch("Runs", PREFETCHED.Runs, firstPage(50));
  if (page === "/pipelines") prefetch("Pipelines", PREFETCHED.Pipelines, firstPage(50));
  if (page === "/catalog") prefetch("Catalog", PREFETCHED.Catalog, firstPage(100));
}
if (page === "/runs/$run") prefetch("RunPage", PREFETCHED.RunPage, { id: decoded(path.slice("/runs/".length)) });
const edited = /^\/pipelines\/([^/]+)\/edit$/.exec(path)?.[1];
if (edited !== undefined) prefetch("EditorPipeline", PREFETCHED.EditorPipeline, { id: decoded(edited) });
// A browser takes longer to make its first formatter than to render a list of times.
setTimeout(() => new Intl.DateTimeFormat(undefined, { timeStyle: "long" }).format());

/** The first page of a list, in the order of the names, as the client sends them. */
function firstPage(first: number): object {
  return { after: null, before: null, filter: {}, first, last: null };
}
