import type { ReactNode } from "react";

/** Label in place of a column heading on a phone, where there is only one column. */
export function PhoneLabel({ of }: { of: string }): ReactNode {
  return <span className="block w-12 shrink-0 font-sans text-meta font-normal text-soft md:hidden">{of}</span>;
}
