import type { ReactNode } from "react";
import { useQuery } from "urql";

import { GearNav } from "../../components/GearNav.tsx";
import { lost } from "../../components/Notice.tsx";
import { Page, Section, Unread } from "../../components/Page.tsx";
import { Prose } from "../../components/Prose.tsx";
import { StateGlyph } from "../../components/StateMark.tsx";
import { count } from "../../lib/format.ts";
import { VERSION } from "../../lib/base.ts";
import { Appearance } from "./Appearance.tsx";
import { ModelsAndLimits } from "./ModelsAndLimits.tsx";
import { Notifications } from "./Notifications.tsx";
import { HealthDocument, SettingsDocument } from "./settings.generated.ts";

export function SettingsPage(): ReactNode {
  return (
    <Page title="Settings">
      <GearNav />
      <div className="grid gap-x-12 lg:grid-cols-2">
        <Section title="Appearance">
          <Appearance />
        </Section>
        <Section title="Notifications">
          <Notifications />
        </Section>
      </div>
      <ModelsAndLimits />
      <Health />
      <Section title="How the server was set">
        <p className="mb-2 text-soft">These are changed where it is started: by variables, its settings file or the command line.</p>
        <Values />
      </Section>
    </Page>
  );
}

function Health(): ReactNode {
  const [{ data, fetching, error }] = useQuery({ query: HealthDocument, requestPolicy: "cache-and-network" });
  if (data === undefined) return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  const { server } = data;
  return (
    <>
      <Section title="About this server">
        <p className="mb-2 text-soft">
          Packline {server.version}
          {server.version === VERSION ? "" : `, this page ${VERSION}`} · {server.accepting ? "takes runs" : "takes no runs now"} · {server.runningRuns} running · {server.queuedRuns} queued
        </p>
        <ul className="divide-y divide-line border-y border-line">
          {server.health.map(({ name, ok, message }) => (
            <li key={name} className="flex min-h-9 items-center gap-2 py-1.5 text-dense">
              <StateGlyph state={ok ? "SUCCEEDED" : "FAILED"} />
              <span className="w-40 shrink-0 font-medium">
                {name}
                <span className="sr-only">{ok ? ": fine" : ": wrong"}</span>
              </span>
              <span className="text-soft wrap-anywhere"><Prose text={message} /></span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Where packs come from">
        <ul className="divide-y divide-line border-y border-line">
          {server.packSources.map((source) => (
            <li key={source.location} className="py-2 text-dense">
              <span className="font-mono wrap-anywhere">{source.location}</span> <span className="text-soft">{count(source.packCount, "pack")}</span>
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

function Values(): ReactNode {
  const [{ data, fetching, error }] = useQuery({ query: SettingsDocument });
  if (data === undefined) {
    const refused = error?.graphQLErrors.some((one) => one.extensions["code"] === "FORBIDDEN") ?? false;
    if (refused) return <p className="text-soft">Only whoever may manage the server sees its settings.</p>;
    return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  }
  return (
    <ul className="divide-y divide-line border-y border-line text-dense">
      {data.settings.map((setting) => {
        const standard = setting.source === "default";
        return (
          <li key={setting.name} className="grid grid-cols-[minmax(12rem,18rem)_minmax(8rem,16rem)_1fr] gap-x-4 py-2 max-md:grid-cols-1">
            <span className="font-mono wrap-anywhere">{setting.name}</span>
            <span className="wrap-anywhere">
              {shown(setting.value)} <span className="text-soft">{standard ? "" : `from the ${setting.source}`}</span>
            </span>
            <span className="text-soft"><Prose text={setting.description} /></span>
          </li>
        );
      })}
    </ul>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "not shown or not set";
  if (typeof value === "string") return value === "" ? "empty" : value;
  if (Array.isArray(value) && value.length === 0) return "none";
  return JSON.stringify(value);
}
