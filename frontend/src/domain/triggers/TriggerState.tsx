import type { ReactNode } from "react";

import type { TriggerRowFragment } from "./triggers.generated.ts";

/** Whether a trigger fires: icon and word, with the reason on hover if Packline paused it. */
export function TriggerState({
  trigger: { enabled, attention },
}: {
  trigger: Pick<TriggerRowFragment, "enabled" | "attention">;
}): ReactNode {
  const [word, icon, ink] =
    attention === null
      ? enabled
        ? (["Enabled", "✓", "text-ok"] as const)
        : (["Paused", "–", "text-idle"] as const)
      : (["Needs attention", "!", "text-warn"] as const);
  return (
    <span className={`whitespace-nowrap ${ink}`} title={attention?.replaceAll("`", "")}>
      <span aria-hidden="true">{icon}</span> <span className="font-medium">{word}</span>
    </span>
  );
}
