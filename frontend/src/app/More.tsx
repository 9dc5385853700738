import { Link, useLocation } from "@tanstack/react-router";
import { Ellipsis, Files, Plug, X } from "lucide-react";
import { type ReactNode, useState } from "react";

import { Modal } from "../components/Modal.tsx";
import { ADMIN_PAGES } from "../domain/administration/adminPages.ts";
import { SignOut } from "./SignOut.tsx";
import { ThemeSwitch } from "./ThemeSwitch.tsx";

/** Entries without room in a phone's bar. */
const PLACES = [
  { to: "/artifacts", word: "Artifacts", Icon: Files },
  { to: "/connect", word: "Connect", Icon: Plug },
  ...ADMIN_PAGES,
] as const;

const ROW = "flex min-h-11 items-center gap-3 rounded px-3 text-ink hover:bg-hover";

/** The last entry of a phone's bar. Names the current page if it is one of its own. */
export function More({
  look,
  here,
  name,
  version,
}: {
  look: string;
  here: string;
  name: string;
  version: string;
}): ReactNode {
  const [open, setOpen] = useState(false);
  const path = useLocation({ select: ({ pathname }) => pathname });
  const at = PLACES.find(({ to }) => path === to || path.startsWith(`${to}/`));
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-current={at === undefined ? undefined : "true"}
        className={`${look} ${at === undefined ? "" : here} md:hidden`}
        onClick={() => setOpen(true)}
      >
        <Ellipsis aria-hidden="true" className="size-4" />
        More
        {at === undefined ? null : <span className="sr-only">{`, ${at.word} is open`}</span>}
      </button>
      {open ? <Sheet name={name} version={version} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Sheet({ name, version, onClose }: { name: string; version: string; onClose: () => void }): ReactNode {
  return (
    <Modal
      label="More"
      onClose={onClose}
      closesOutside
      className="mt-auto mb-0 max-h-[85vh] w-full max-w-none overflow-auto rounded-t-lg border-t p-0 pb-[env(safe-area-inset-bottom)]"
    >
      <div className="p-3">
        <div className="mb-1 flex items-center justify-between gap-2 pl-3">
          <h2>More</h2>
          <button
            type="button"
            aria-label="Close"
            className="grid size-11 place-items-center rounded text-soft hover:bg-hover"
            onClick={onClose}
          >
            <X aria-hidden="true" className="size-5" />
          </button>
        </div>
        <nav aria-label="More" className="grid grid-cols-2 gap-1">
          {PLACES.map(({ to, word, Icon }) => (
            <Link
              key={to}
              to={to}
              className={ROW}
              activeProps={{ className: "bg-accent-tint !text-accent font-medium", "aria-current": "page" }}
              activeOptions={{ includeSearch: false }}
              onClick={onClose}
            >
              <Icon aria-hidden="true" className="size-4 shrink-0" />
              {word}
            </Link>
          ))}
        </nav>
        <div className="mt-3 flex items-center justify-between gap-4 border-t border-line pt-2">
          <ThemeSwitch />
          <p className="min-w-0 flex-1 truncate text-right text-meta text-soft">
            {name} · {version}
          </p>
          <SignOut size="size-11" />
        </div>
      </div>
    </Modal>
  );
}
