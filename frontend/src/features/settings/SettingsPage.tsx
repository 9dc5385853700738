import type { ReactNode } from "react";
import { useQuery } from "urql";

import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { count } from "../../lib/text/format.ts";
import { NeedsManage } from "../../domain/administration/NeedsManage.tsx";
import { VERSION } from "../../lib/server/base.ts";
import { Agents } from "./Agents.tsx";
import { Appearance } from "./Appearance.tsx";
import { ModelsAndLimits } from "./ModelsAndLimits.tsx";
import { Notifications } from "./Notifications.tsx";
import {
  AgentsDocument,
  HealthDocument,
  type HealthQuery,
  ModelsAndLimitsDocument,
  SettingsDocument,
  type SettingsQuery,
  WorkersDocument,
} from "./settings.generated.ts";
import { Shortcuts } from "./Shortcuts.tsx";
import { Workers } from "./Workers.tsx";

export function SettingsPage(): ReactNode {
  return (
    <Page title="Settings">
      <AdminNav />
      <div className="grid gap-x-12 lg:grid-cols-2">
        <Section title="Appearance">
          <Appearance />
        </Section>
        <div>
          <Section title="Notifications">
            <Notifications />
          </Section>
          <Section title="Keys">
            <Shortcuts />
          </Section>
        </div>
      </div>
      <Server />
    </Page>
  );
}

/** All about the server, rendered at once: late sections would push others down. */
function Server(): ReactNode {
  const [limits] = useQuery({ query: ModelsAndLimitsDocument });
  const [agents] = useQuery({ query: AgentsDocument });
  const [health] = useQuery({ query: HealthDocument });
  const [workers] = useQuery({ query: WorkersDocument });
  const [values] = useQuery({ query: SettingsDocument });
  if (
    limits.data === undefined ||
    agents.data === undefined ||
    health.data === undefined ||
    (workers.data === undefined && workers.fetching) ||
    (values.data === undefined && values.fetching)
  ) {
    const error = limits.error ?? agents.error ?? health.error;
    return (
      <LoadingOrProblem
        fetching={limits.fetching || agents.fetching || health.fetching || workers.fetching || values.fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  }
  return (
    <>
      <ModelsAndLimits data={limits.data} agents={<Agents agentProfiles={agents.data.agentProfiles} />} />
      <Health server={health.data.server} />
      <Section title="Workers">
        {workers.data === undefined ? (
          <NeedsManage what="its workers" fetching={false} error={workers.error} />
        ) : (
          <Workers {...workers.data} />
        )}
      </Section>
      <Section title="Server settings">
        <p className="mb-2 text-soft">
          To change them, restart the server with other environment variables, settings file or command-line options.
        </p>
        {values.data === undefined ? (
          <NeedsManage what="its settings" fetching={false} error={values.error} />
        ) : (
          <Values settings={values.data.settings} />
        )}
      </Section>
    </>
  );
}

function Health({ server }: HealthQuery): ReactNode {
  return (
    <>
      <Section title="About this server">
        <p className="mb-2 text-soft">
          Packline {server.version}
          {server.version === VERSION ? "" : `, this page ${VERSION}`} ·{" "}
          {server.accepting ? "accepting runs" : "not accepting runs"} · {server.runningRuns} running ·{" "}
          {server.queuedRuns} queued
        </p>
        <ul className="divide-y divide-line border-y border-line">
          {server.health.map(({ name, ok, message }) => (
            <li key={name} className="flex min-h-9 items-center gap-2 py-1.5 text-dense">
              <StateGlyph state={ok ? "SUCCEEDED" : "FAILED"} />
              <span className="w-40 shrink-0 font-medium">
                {name}
                <span className="sr-only">{ok ? ": fine" : ": wrong"}</span>
              </span>
              <span className="text-soft wrap-anywhere">
                <TextWithCode text={message} />
              </span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Pack sources">
        <ul className="divide-y divide-line border-y border-line">
          {server.packSources.map((source) => (
            <li key={source.location} className="py-2 text-dense">
              <span className="font-mono wrap-anywhere">{source.location}</span>{" "}
              <span className="text-soft">{count(source.packCount, "pack")}</span>
              {source.loadErrors.map(({ origin, message }) => (
                <p key={origin} className="mt-1 border-l-2 border-fail bg-fail-tint px-3 py-1 wrap-anywhere">
                  {origin}: {message}
                </p>
              ))}
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function Values({ settings }: SettingsQuery): ReactNode {
  return (
    <ul className="divide-y divide-line border-y border-line text-dense">
      {settings.map((setting) => {
        const standard = setting.source === "default";
        return (
          <li
            key={setting.name}
            className="grid grid-cols-[minmax(12rem,18rem)_minmax(8rem,16rem)_1fr] gap-x-4 py-2 max-md:grid-cols-1"
          >
            <span className="font-mono wrap-anywhere">{setting.name}</span>
            <span className="wrap-anywhere">
              {shown(setting.value)} <span className="text-soft">{standard ? "" : `from the ${setting.source}`}</span>
            </span>
            <span className="text-soft">
              <TextWithCode text={setting.description} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "hidden or not set";
  if (typeof value === "string") return value === "" ? "empty" : value;
  if (typeof value === "object" && Object.keys(value).length === 0) return "none";
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}
