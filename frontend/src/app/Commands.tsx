import { useRouter } from "@tanstack/react-router";
import { type ReactNode, Suspense, useCallback, useEffect, useState } from "react";

import { Button } from "../components/Button.tsx";
import { ContentBoundary } from "../components/ContentBoundary.tsx";
import { LazyDialogFallback } from "../components/LazyFallback.tsx";
import { PLACES } from "../features/palette/places.ts";
import { withBase } from "../lib/server/base.ts";
import { lazyComponent } from "../lib/server/lazyComponent.ts";
import { lazyLoad } from "../lib/server/lazyLoad.ts";
import { listenForKeys, useActions } from "../lib/browser/shortcuts.ts";

const loadPalette = lazyLoad(() => import("../features/palette/Palette.tsx"));
const loadSheet = lazyLoad(() => import("../features/palette/ShortcutSheet.tsx"));
const Palette = lazyComponent(loadPalette, "Palette");
const ShortcutSheet = lazyComponent(loadSheet, "ShortcutSheet");

/** The keys that act on every page, the palette and the sheet of keys. */
export function Commands(): ReactNode {
  const router = useRouter();
  const [open, setOpen] = useState<"palette" | "sheet" | null>(null);
  const close = useCallback(() => setOpen(null), []);

  useEffect(listenForKeys, []);
  useEffect(() => {
    // A shortcut with a modifier works everywhere, also in text fields, and cannot be switched off.
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
      keys === null ? [] : [{ keys, says: word, act: () => router.history.push(withBase(href)) }],
    ),
  );

  return (
    <ContentBoundary
      what={open === "sheet" ? "The sheet of keys" : "The palette"}
      of={[open]}
      beside={<Button onClick={close}>Close</Button>}
    >
      <Suspense fallback={<LazyDialogFallback onClose={close} />}>
        {open === "palette" ? <Palette onClose={close} /> : null}
        {open === "sheet" ? <ShortcutSheet onClose={close} /> : null}
      </Suspense>
    </ContentBoundary>
  );
}
