import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { GEAR } from "./gear.ts";

export function GearNav(): ReactNode {
  return (
    <nav aria-label="Administration" className="mb-4 flex gap-5 overflow-x-auto border-b border-line">
      {GEAR.map(({ to, word }) => (
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
