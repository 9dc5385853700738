import type { ReactNode } from "react";

import { useShortcutsSetting } from "../../lib/browser/shortcutsSetting.ts";

/** The setting for single-key shortcuts; users of speech input, for example, switch them off. */
export function Shortcuts(): ReactNode {
  const [on, setOn] = useShortcutsSetting();
  return (
    <label className="flex max-w-reading items-start gap-2">
      <input type="checkbox" className="mt-1" checked={on} onChange={(event) => setOn(event.target.checked)} />
      <span>
        Single-key shortcuts
        <span className="block text-meta text-soft">
          <kbd>?</kbd> lists them. Ctrl-K always opens the command palette. Saved in this browser.
        </span>
      </span>
    </label>
  );
}
