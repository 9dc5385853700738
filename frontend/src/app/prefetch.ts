// Sends the queries of the current address, and asks for its part of the page, before the main script has loaded. A
// separate script, small enough to run while the main one is still loading.

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
if (page === "/runs/$run") prefetch("RunPage", PREFETCHED.RunPage, { id: decoded(path.slice("/runs/".length)) });
