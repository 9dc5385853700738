import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { ADMIN_PAGES } from "./adminPages.ts";

/** Tabs of the administration pages; a phone lists them under More. */
export function AdminNav(): ReactNode {
  return (
    <nav
      aria-label="Administration"
      className="mb-4 flex gap-5 max-md:hidden overflow-x-auto shadow-[inset_0_-1px_0_var(--line)]"
    >
      {ADMIN_PAGES.map(({ to, word }) => (
        <Link
          key={to}
          to={to}
          className="border-b-2 border-transparent pb-1.5 font-medium whitespace-nowrap text-soft hover:text-ink"
          activeProps={{ className: "!border-accent !text-ink", "aria-current": "page" }}
          activeOptions={{ includeSearch: false }}
        >
          {word}
        </Link>
      ))}
    </nav>
  );
}
