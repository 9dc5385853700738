import type { ReactNode } from "react";

interface Props {
  name: string;
  why: string;
  /** Whether `why` is the server's refusal, a complete message. */
  isRefusal?: boolean;
  /** What to do about it. */
  children?: ReactNode;
}

/** In place of a file that cannot be shown: why. The page's header has the link that downloads it. */
export function Unshown({ name, why, isRefusal = false, children }: Props): ReactNode {
  return (
    <div role="status" className="max-w-2xl rounded border-l-2 border-warn bg-warn-tint px-3 py-2 wrap-anywhere">
      {isRefusal ? null : <p className="font-medium">{name} cannot be shown.</p>}
      <p>{why}</p>
      {children}
    </div>
  );
}
