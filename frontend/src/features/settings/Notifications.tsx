import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { type Permission, permission, switchOff, switchOn } from "../../lib/browser/notify.ts";

const SENTENCES: Record<Permission, string> = {
  on: "This browser notifies you when one of your runs fails and Packline is in the background.",
  off: "This browser can notify you when one of your runs fails. Keep a Packline tab open.",
  denied: "Notifications from this site are blocked. Allow them in the browser's settings.",
  impossible: "Notifications need HTTPS, or a server on this machine.",
};

export function Notifications(): ReactNode {
  const [state, setState] = useState(permission);
  return (
    <div className="max-w-reading">
      <p role="status" className="mb-3">
        {SENTENCES[state]}
      </p>
      {state === "off" ? (
        <Button onClick={() => void switchOn().then(setState)}>Notify me about failures</Button>
      ) : null}
      {state === "on" ? <Button onClick={() => setState(switchOff())}>Stop notifying me</Button> : null}
    </div>
  );
}
