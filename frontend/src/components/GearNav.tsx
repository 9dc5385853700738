import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** What lies behind the gear, in the order people need it. */
const PLACES = [
  { to: "/settings", word: "Settings" },
  { to: "/memory", word: "Memory" },
  { to: "/proposals", word: "Proposals" },
  { to: "/credentials", word: "Credentials" },
  { to: "/tokens", word: "Tokens" },
  { to: "/audit", word: "Audit" },
] as const;

export function GearNav(): ReactNode {
  return (
    <nav aria-label="Administration" className="mb-4 flex gap-5 overflow-x-auto border-b border-line">
      {PLACES.map(({ to, word }) => (
        <Link
          key={to}
          to={to}
          className="-mb-px border-b-2 border-transparent pb-1.5 font-medium whitespace-nowrap text-soft hover:text-ink"
          activeProps={{ className: "!border-accent !text-ink", "aria-current": "page" }}
          activeOptions={{ includeSearch: false }}
        >
          {word}
        </Link>
      ))}
    </nav>
  );
}
