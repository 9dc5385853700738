import type { ReactNode } from "react";

const NAMES: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

/** Keyboard keys; keys separated by a space are pressed one after the other. */
export function Keys({ keys }: { keys: string }): ReactNode {
  return (
    <span className="inline-flex gap-1">
      {keys.split(" ").map((key) => (
        <kbd
          key={key}
          className="min-w-5 rounded border border-line bg-panel px-1 text-center font-sans text-meta text-soft"
        >
          {NAMES[key] ?? key}
        </kbd>
      ))}
    </span>
  );
}
