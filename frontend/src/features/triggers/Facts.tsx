import type { ReactNode } from "react";

/** A list of facts about a trigger. */
export function Facts({ children }: { children: ReactNode }): ReactNode {
  return <dl className="grid grid-cols-[8.5rem_1fr] gap-x-4 gap-y-2 [&>dt]:text-soft">{children}</dl>;
}

export function Fact({ term, children }: { term: string; children: ReactNode }): ReactNode {
  return (
    <>
      <dt>{term}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  );
}
