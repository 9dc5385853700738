import { Link, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { RequirementKind } from "../fragments.generated.ts";

import { TextWithCode } from "../../components/TextWithCode.tsx";

/** Requirements this server does not meet, with hints. */
export function MissingRequirements({
  missing,
}: {
  missing: readonly { kind: RequirementKind; name: string; message: string; hint?: string | null }[];
}): ReactNode {
  const { pathname } = useLocation();
  return (
    <div className="my-3 border-l-2 border-warn bg-warn-tint px-3 py-2">
      <p className="font-medium">Cannot run here yet.</p>
      <ul>
        {missing.map(({ kind, name, message, hint }) => (
          <li key={name + message} className="wrap-anywhere">
            <TextWithCode text={`${message} ${hint ?? ""}`} />
            {kind === "CREDENTIAL" ? (
              <>
                {" "}
                <Link to="/credentials" search={{ need: name, return: pathname }} className="link">
                  Add credential
                </Link>
              </>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
