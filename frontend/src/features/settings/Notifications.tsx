import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { type Permission, permission, switchOff, switchOn } from "../../lib/browser/notify.ts";

const SENTENCES: Record<Permission, string> = {
  on: "This browser tells you when one of your runs fails while you do not look at Packline.",
  off: "This browser can tell you when one of your runs fails while you do not look at Packline. A tab with it has to be open.",
  denied: "This browser was told to show no notifications of this site. Its own settings take that back.",
  impossible: "This browser shows notifications of sites over HTTPS and on this machine only.",
};

export function Notifications(): ReactNode {
  const [state, setState] = useState(permission);
  return (
    <div className="max-w-[60ch]">
      <p role="status" className="mb-3">
        {SENTENCES[state]}
      </p>
      {state === "off" ? <Button onClick={() => void switchOn().then(setState)}>Tell me of failures</Button> : null}
      {state === "on" ? <Button onClick={() => setState(switchOff())}>Stop telling me</Button> : null}
    </div>
  );
}
