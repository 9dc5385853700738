import type { ReactNode } from "react";

import { Timestamp } from "../../components/Timestamp.tsx";
import { useNow } from "../../lib/time/clock.ts";
import type { CredentialRowFragment } from "./credentials.generated.ts";

/** In one line, whether a credential can be used, and if not, why. */
export function CredentialStatus({
  credential,
}: {
  credential: Pick<CredentialRowFragment, "readable" | "expiresAt" | "lastTest">;
}): ReactNode {
  const now = useNow(false);
  const { readable, expiresAt, lastTest } = credential;
  if (!readable)
    return (
      <Mark tone="fail" icon="✕">
        Not readable: vault key changed
      </Mark>
    );
  if (expiresAt !== null && Date.parse(expiresAt) <= now) {
    return (
      <Mark tone="fail" icon="✕">
        Expired <Timestamp at={expiresAt} relative />
      </Mark>
    );
  }
  if (lastTest !== null && !lastTest.accepted)
    return (
      <Mark tone="fail" icon="✕">
        Refused by the service
      </Mark>
    );
  if (lastTest !== null) {
    return (
      <Mark tone="ok" icon="✓">
        Accepted <Timestamp at={lastTest.at} relative />
      </Mark>
    );
  }
  return <span className="text-soft">Readable, not tested</span>;
}

function Mark({ tone, icon, children }: { tone: "ok" | "fail"; icon: string; children: ReactNode }): ReactNode {
  return (
    <span className={tone === "ok" ? "text-ok" : "text-fail"}>
      <span aria-hidden="true">{icon}</span> {children}
    </span>
  );
}
