// What can be begun before the page's own script is there: asking for what the address shows. A script of its own, small
// enough to run while the other is still on its way.

import { askAhead } from "../lib/server/ahead.ts";
import { decoded } from "../lib/json/foreign.ts";
import { BASE } from "../lib/server/base.ts";
import { AHEAD } from "./ahead.generated.ts";

const path = location.pathname.slice(BASE.length);
const run = /^\/runs\/(?!compare$)([^/]+)$/.exec(path)?.[1];

askAhead("Viewer", AHEAD.Viewer, {});
if (path === "/") askAhead("Home", AHEAD.Home, {});
if (run !== undefined) askAhead("RunPage", AHEAD.RunPage, { id: decoded(run) });
