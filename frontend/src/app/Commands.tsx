import { useRouter } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react";

import { Button } from "../components/Button.tsx";
import { Foreign } from "../components/Foreign.tsx";
import { WaitingDialog } from "../components/Waiting.tsx";
import { PLACES } from "../features/palette/places.ts";
import { served } from "../lib/server/base.ts";
import { lazily } from "../lib/server/lazily.ts";
import { listenForKeys, useActions } from "../lib/browser/shortcuts.ts";

const loadPalette = lazily(() => import("../features/palette/Palette.tsx"));
const loadSheet = lazily(() => import("../features/palette/ShortcutSheet.tsx"));
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));
const ShortcutSheet = lazy(async () => ({ default: (await loadSheet()).ShortcutSheet }));

/** The keys that act on every page, the palette and the sheet of keys. */
export function Commands(): ReactNode {
  const router = useRouter();
  const [open, setOpen] = useState<"palette" | "sheet" | null>(null);
  const close = useCallback(() => setOpen(null), []);

  useEffect(listenForKeys, []);
  useEffect(() => {
    // With a modifier it acts everywhere, also while somebody types, and cannot be switched off.
    function pressed(event: KeyboardEvent): void {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen((known) =>
        known === "palette" ? null : document.querySelector("dialog[open]") === null ? "palette" : known,
      );
    }
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  useActions("Everywhere", [{ keys: "?", says: "Keys", act: () => setOpen("sheet") }]);
  useActions(
    "Go to",
    PLACES.flatMap(({ word, href, keys }) =>
      keys === null ? [] : [{ keys, says: word, act: () => router.history.push(served(href)) }],
    ),
  );

  return (
    <Foreign
      what={open === "sheet" ? "The sheet of keys" : "The palette"}
      of={[open]}
      beside={<Button onClick={close}>Close</Button>}
    >
      <Suspense fallback={<WaitingDialog onClose={close} />}>
        {open === "palette" ? <Palette onClose={close} /> : null}
        {open === "sheet" ? <ShortcutSheet onClose={close} /> : null}
      </Suspense>
    </Foreign>
  );
}
