import type { ReactNode } from "react";

import { useTitle } from "../components/Page.tsx";
import { withBase } from "../lib/server/base.ts";
import { encoded } from "../lib/json/untrusted.ts";
import { Logo } from "./Logo.tsx";

/** Shown to a visitor who is not signed in. The form goes to the server's login page, which redirects back here. */
export function SignIn(): ReactNode {
  useTitle("Sign in");
  const here = location.pathname + location.search;
  return (
    <main className="grid min-h-screen place-items-center p-6">
      <div className="w-full max-w-md">
        <p className="mb-6 flex items-center gap-2 text-section font-semibold">
          <Logo /> Packline
        </p>
        <h1 className="mb-2">Sign in</h1>
        <p className="text-soft">
          Open the login link that <code className="font-mono text-dense text-ink">packline up</code> printed. For a new
          one, run this on the server's machine:
        </p>
        <pre className="my-4 rounded border border-line bg-panel px-3 py-2 font-mono text-dense">
          packline token login-link
        </pre>
        <form method="post" action={`${withBase("/login")}?next=${encoded(here)}`}>
          <label htmlFor="token" className="mb-1 block font-medium">
            Or paste the part of the link after #
          </label>
          <div className="flex gap-2">
            <input
              id="token"
              name="token"
              type="password"
              required
              autoComplete="off"
              spellCheck={false}
              className="field"
            />
            <button
              type="submit"
              className="rounded border border-accent bg-accent px-3 font-medium whitespace-nowrap text-on-accent"
            >
              Sign in
            </button>
          </div>
        </form>
      </div>
    </main>
  );
}
