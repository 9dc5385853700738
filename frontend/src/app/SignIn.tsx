import { type ReactNode, useEffect } from "react";

import { encoded } from "../lib/json/untrusted.ts";
import { withBase } from "../lib/server/base.ts";

/** Leads a visitor who is not signed in to the server's sign-in page, which leads back here. */
export function SignIn(): ReactNode {
  useEffect(() => {
    const here = location.pathname + location.search;
    location.replace(`${withBase("/login")}?next=${encoded(here)}`);
  }, []);
  return null;
}
