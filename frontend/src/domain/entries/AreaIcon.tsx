import type { ReactNode } from "react";

import type { Area } from "./areas.ts";

/** The icon of an area in a row; its word on hover and for screen readers. */
export function AreaIcon({ area: { word, Icon } }: { area: Area }): ReactNode {
  return (
    <span title={word} className="shrink-0 self-center">
      <Icon aria-hidden="true" className="size-4.5 text-soft" />
      <span className="sr-only">{word}: </span>
    </span>
  );
}
