import { Ellipsis, LogOut, Monitor, Moon, Plug, Settings, Sun } from "lucide-react";
import type { ReactNode } from "react";

import { Logo } from "./Logo.tsx";
import { BAR, BRAND, FOOT, FRAME, LINK, NAV, PLACES, WIDE } from "./shellLook.ts";

/**
 * The shell as index.html holds it, painted before any script has loaded. Only a picture: nothing in it can be used,
 * focused or read out. styles.css hides it as soon as the page is there. The page then shows the same items in the same
 * places.
 */
export function ShellSkeleton(): ReactNode {
  return (
    <div className={FRAME}>
      <div className={BAR}>
        <div className={BRAND}>
          <Logo />
          Packline
        </div>
        <nav className={NAV}>
          {PLACES.map(({ to, word, Icon }) => (
            <Entry key={to} word={word} Icon={Icon} look={to === "/artifacts" ? WIDE : ""} />
          ))}
          <Entry word="Connect" Icon={Plug} look={`${WIDE} md:mt-auto`} />
          <Entry word="Settings" Icon={Settings} look={WIDE} />
          <Entry word="More" Icon={Ellipsis} look="md:hidden" />
        </nav>
        <div className={FOOT}>
          <div className="flex gap-0.5 px-1.5 text-soft">
            {[Sun, Moon, Monitor].map((Icon, at) => (
              <span key={at} className="rounded p-1.5 pointer-coarse:p-3.5">
                <Icon className="size-4" />
              </span>
            ))}
          </div>
          <div className="mt-3 flex min-h-6 items-center justify-end pl-2.5 text-meta text-soft pointer-coarse:min-h-11">
            <span className="grid size-6 place-items-center">
              <LogOut className="size-4" />
            </span>
          </div>
        </div>
      </div>
    </div>
  );
}

function Entry({ word, Icon, look }: { word: string; Icon: typeof Plug; look: string }): ReactNode {
  // An anchor without an address is no link, and has the size of one on a phone.
  return (
    // oxlint-disable-next-line jsx-a11y/anchor-is-valid
    <a className={`${LINK} ${look}`}>
      <Icon className="size-4" />
      {word}
    </a>
  );
}
