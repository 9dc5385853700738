// What the shell and its first paint (`ShellSkeleton.tsx`) have in common.

import { BookOpen, Files, House, ListChecks, Workflow } from "lucide-react";

export const PLACES = [
  { to: "/", word: "Home", Icon: House },
  { to: "/runs", word: "Runs", Icon: ListChecks },
  { to: "/pipelines", word: "Pipelines", Icon: Workflow },
  { to: "/catalog", word: "Catalog", Icon: BookOpen },
  { to: "/artifacts", word: "Artifacts", Icon: Files },
] as const;

export const FRAME = "min-h-screen md:grid md:grid-cols-[13rem_minmax(0,1fr)]";
export const BAR =
  "border-line bg-panel max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-10 max-md:border-t md:sticky md:top-0 md:flex md:h-screen md:flex-col md:border-r md:p-3";
export const BRAND = "mb-4 flex items-center gap-2 px-2.5 pt-1 text-section font-semibold text-ink max-md:hidden";
export const NAV =
  "flex flex-1 flex-col gap-0.5 max-md:flex-row max-md:px-1 max-md:py-1 max-md:pb-[max(0.25rem,env(safe-area-inset-bottom))]";
export const FOOT = "mt-3 border-t border-line pt-3 max-md:hidden";
/** A phone's bar holds four places and More. */
export const WIDE = "max-md:!hidden";
export const LINK =
  "flex items-center gap-2.5 rounded px-2.5 py-1.5 text-soft hover:bg-hover hover:text-ink max-md:flex-col max-md:gap-0.5 max-md:flex-1 max-md:justify-center max-md:px-1 max-md:text-meta";
export const HERE_LOOK = "bg-accent-tint !text-accent font-medium";
export const HERE = { className: HERE_LOOK, "aria-current": "page" } as const;
