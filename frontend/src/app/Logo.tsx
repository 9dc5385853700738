import type { ReactNode } from "react";

export function Logo(): ReactNode {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className="size-5">
      <rect width="16" height="16" rx="4" fill="var(--accent)" />
      <g fill="var(--on-accent)">
        <rect x="3" y="3.2" width="10" height="2.4" rx="1" />
        <rect x="3" y="6.8" width="7.5" height="2.4" rx="1" />
        <rect x="3" y="10.4" width="5" height="2.4" rx="1" />
      </g>
    </svg>
  );
}
