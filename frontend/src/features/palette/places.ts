/** The pages the palette leads to; with the key that leads there, too, where one does. */
export const PLACES: readonly { word: string; href: string; keys: string | null; words: string }[] = [
  { word: "Home", href: "/", keys: "g h", words: "start overview" },
  { word: "Runs", href: "/runs", keys: "g r", words: "list history" },
  { word: "Runs that need attention", href: "/runs?view=attention", keys: null, words: "failed broken" },
  { word: "Pipelines", href: "/pipelines", keys: "g p", words: "workflows" },
  { word: "New pipeline", href: "/pipelines/new", keys: null, words: "create make edit" },
  { word: "Catalog", href: "/catalog", keys: "g c", words: "packs search" },
  { word: "Artifacts", href: "/artifacts", keys: "g a", words: "files library" },
  { word: "Connect an agent", href: "/connect", keys: null, words: "mcp claude codex client token" },
  { word: "Triggers", href: "/triggers", keys: "g t", words: "schedules cron automatic" },
  { word: "New schedule", href: "/triggers/new", keys: null, words: "create trigger cron add" },
  { word: "Memory", href: "/memory", keys: null, words: "defaults learned forget" },
  { word: "Proposals", href: "/proposals", keys: null, words: "gaps missing packs" },
  { word: "Credentials", href: "/credentials", keys: null, words: "keys secrets vault" },
  { word: "Tokens", href: "/tokens", keys: null, words: "access api" },
  { word: "Audit", href: "/audit", keys: null, words: "who did what" },
  { word: "Settings", href: "/settings", keys: null, words: "theme health shortcuts" },
];
