import type { ReactNode } from "react";

import { Prose } from "./Prose.tsx";

/** Why something cannot run here, and what would help. */
export function Missing({ missing }: { missing: readonly { name: string; message: string; hint?: string | null }[] }): ReactNode {
  return (
    <div className="my-3 border-l-2 border-warn bg-warn-tint px-3 py-2">
      <p className="font-medium">It cannot run here yet.</p>
      <ul>
        {missing.map(({ name, message, hint }) => (
          <li key={name + message} className="wrap-anywhere">
            <Prose text={`${message} ${hint ?? ""}`} />
          </li>
        ))}
      </ul>
    </div>
  );
}
