import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

import { Section } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { duration } from "../../lib/text/format.ts";
import { ISOLATION } from "../../domain/runs/isolation.ts";
import type { AgentsQuery } from "./settings.generated.ts";

/** The program of mock profiles, for trials and tests. */
const MOCK = "mock";

type Profile = AgentsQuery["agentProfiles"][number];

/** The agent profiles of the server's settings, and whether each can be used. */
export function Agents({ agentProfiles }: AgentsQuery): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  // The section is not rendered yet when its address is opened.
  useEffect(() => {
    if (location.hash === "#agents") place.current?.scrollIntoView();
  }, []);
  return (
    <div id="agents" ref={place}>
      <Listed agentProfiles={agentProfiles} />
    </div>
  );
}

function Listed({ agentProfiles }: AgentsQuery): ReactNode {
  return (
    <Section title="Agents">
      {agentProfiles.length === 0 ? (
        <p className="text-soft">
          No agent profile is declared. <code className="font-mono text-dense">PACKLINE_AGENTS</code> on the server
          declares them.
        </p>
      ) : (
        <ul className="divide-y divide-line border-y border-line text-dense">
          {agentProfiles.map((profile) => (
            <li key={profile.key} className="flex min-h-9 gap-4 py-2 max-md:flex-col max-md:gap-1">
              <span className="w-32 shrink-0 font-medium wrap-anywhere">{profile.key}</span>
              <div className="min-w-0 flex-1 space-y-1">
                <Command command={profile.command} />
                {profile.command[0] === MOCK ? null : <p className="text-soft">{traits(profile).join(" · ")}</p>}
                <Usable profile={profile} />
              </div>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The program; its arguments are folded. */
function Command({ command: [program, ...args] }: Pick<Profile, "command">): ReactNode {
  if (program === MOCK) return <p>Answers from a script. No program starts.</p>;
  if (args.length === 0) return <p className="font-mono wrap-anywhere">{program}</p>;
  return (
    <details>
      <summary className="font-mono wrap-anywhere pointer-coarse:py-3">{program}</summary>
      <p className="mt-1 font-mono text-meta text-soft wrap-anywhere">{args.join(" ")}</p>
    </details>
  );
}

function traits({ model, isolation, timeoutSeconds }: Profile): string[] {
  return [
    model === null ? "its default model" : `model ${model}`,
    isolation === null ? "in a sandbox if available" : `only ${ISOLATION[isolation]}`,
    `at most ${duration(timeoutSeconds)}`,
  ];
}

function Usable({ profile: { key, availability } }: { profile: Profile }): ReactNode {
  if (availability.usable) {
    return (
      <p className="text-ok">
        <span aria-hidden="true">✓</span> can be used
      </p>
    );
  }
  return availability.missing.map(({ kind, name, message, hint }) => (
    <p key={kind + name} className="wrap-anywhere">
      <span className="text-warn">
        <span aria-hidden="true">–</span> cannot be used:
      </span>{" "}
      <TextWithCode text={`${message} ${hint ?? ""}`} />{" "}
      {kind === "CREDENTIAL" ? (
        <Link
          to="/credentials"
          search={{ need: name, return: "/settings" }}
          className="link underline"
          aria-label={`Add credential ${name} for ${key}`}
        >
          Add credential
        </Link>
      ) : null}
    </p>
  ));
}
