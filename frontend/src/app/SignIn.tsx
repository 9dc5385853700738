import { type ReactNode, useEffect } from "react";

import { encoded } from "../lib/json/untrusted.ts";
import { withBase } from "../lib/server/base.ts";
import { isSigningOut } from "./SignOut.tsx";

/** Leads a visitor who is not signed in to the server's sign-in page, which leads back here. */
export function SignIn(): ReactNode {
  const to = `${withBase("/login")}?next=${encoded(location.pathname + location.search)}`;
  useEffect(() => {
    if (!isSigningOut()) location.replace(to);
  }, [to]);
  return (
    <p className="p-6">
      <a href={to}>Sign in</a>
    </p>
  );
}
