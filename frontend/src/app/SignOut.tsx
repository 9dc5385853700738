import { LogOut } from "lucide-react";
import type { ReactNode } from "react";

import { withBase } from "../lib/server/base.ts";

let leaving = false;

/** Whether this page is being left by signing out; then its closing connection is no reason to go elsewhere. */
export function isSigningOut(): boolean {
  return leaving;
}

/** Ends the login of this browser; the server leads to its sign-in page. */
export function SignOut({ size = "size-6" }: { size?: string }): ReactNode {
  return (
    <form method="post" action={withBase("/logout")} className="shrink-0" onSubmit={() => void (leaving = true)}>
      <button
        type="submit"
        aria-label="Sign out"
        title="Sign out"
        className={`grid place-items-center rounded text-soft hover:bg-hover hover:text-ink ${size}`}
      >
        <LogOut aria-hidden="true" className="size-4" />
      </button>
    </form>
  );
}
