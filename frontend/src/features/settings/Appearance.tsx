import { type ReactNode, useState } from "react";

import { FormField } from "../../components/FormField.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { serverNow } from "../../lib/time/clock.ts";
import { setTheme, type Theme, theme } from "../../lib/browser/theme.ts";
import { ownZone, setZone, zone, zones } from "../../lib/time/zone.ts";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** How the page looks in this browser. */
export function Appearance(): ReactNode {
  const [look, setLook] = useState<Theme>(theme);
  const [place, setPlace] = useState(zone);
  // There are hundreds; they are rendered when the select is used.
  const [listed, setListed] = useState(false);
  return (
    <div className="max-w-sm space-y-4">
      <FormField label="Theme">
        {(given) => (
          <select
            {...given}
            value={look}
            onChange={(event) => {
              const chosen = THEMES.find(([value]) => value === event.target.value)?.[0] ?? "system";
              setTheme(chosen);
              setLook(chosen);
            }}
          >
            {THEMES.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <FormField
        label="Time zone"
        about={
          <>
            Now it is <Timestamp key={place} at={new Date(serverNow()).toISOString()} />.
          </>
        }
      >
        {(given) => (
          <select
            {...given}
            value={place ?? ""}
            onFocus={() => setListed(true)}
            onPointerEnter={() => setListed(true)}
            onChange={(event) => {
              const chosen = event.target.value === "" ? null : event.target.value;
              setZone(chosen);
              setPlace(chosen);
            }}
          >
            <option value="">System: {ownZone()}</option>
            {(listed ? zones() : place === null ? [] : [place]).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </FormField>
      <p className="text-meta text-soft">Both are saved in this browser.</p>
    </div>
  );
}
