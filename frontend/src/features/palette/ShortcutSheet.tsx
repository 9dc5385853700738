import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { Dialog } from "../../components/Dialog.tsx";
import { offeredActions } from "../../lib/browser/shortcuts.ts";
import { useShortcutsSetting } from "../../lib/browser/shortcutsSetting.ts";
import { Keys } from "./Keys.tsx";

/** Every key that does something on the page that shows. */
export function ShortcutSheet({ onClose }: { onClose: () => void }): ReactNode {
  const [groups] = useState(() =>
    offeredActions().map(({ name, actions }) => ({ name, actions: actions.filter(({ keys }) => keys !== null) })),
  );
  const [on, setOn] = useShortcutsSetting();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        {groups
          .filter(({ actions }) => actions.length > 0)
          .map(({ name, actions }) => (
            <section key={name} aria-label={name}>
              <h3 className="mb-1">{name}</h3>
              <ul className="space-y-1 text-dense">
                {actions.map(({ keys, says }) => (
                  <li key={`${keys} ${says}`} className="flex items-baseline justify-between gap-3">
                    <span>{says}</span>
                    <Keys keys={keys ?? ""} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
      </div>
      <label className="mt-5 flex items-center gap-2 border-t border-line pt-4">
        <input type="checkbox" checked={on} onChange={(event) => setOn(event.target.checked)} data-autofocus="" />
        <span>
          Single-key shortcuts. Ctrl-K always works. You can also change this in{" "}
          <Link to="/settings" className="link underline" onClick={onClose}>
            Settings
          </Link>
          .
        </span>
      </label>
    </Dialog>
  );
}
