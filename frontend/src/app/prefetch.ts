// Sends the queries of the current address before the page's main script has loaded. A separate script, small enough to
// run while the main one is still loading.

import { prefetch } from "../lib/server/prefetch.ts";
import { decoded } from "../lib/json/untrusted.ts";
import { BASE } from "../lib/server/base.ts";
import { PREFETCHED } from "./prefetch.generated.ts";

const path = location.pathname.slice(BASE.length);
const run = /^\/runs\/(?!compare$)([^/]+)$/.exec(path)?.[1];

prefetch("Viewer", PREFETCHED.Viewer, {});
if (path === "/") prefetch("Home", PREFETCHED.Home, {});
if (run !== undefined) prefetch("RunPage", PREFETCHED.RunPage, { id: decoded(run) });
