import { Link, Outlet, useLocation, useMatch, useNavigate } from "@tanstack/react-router";
import { BookOpen, Files, House, ListChecks, Plug, Settings, Workflow } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useQuery } from "urql";

import { ADMIN_PAGES } from "../domain/administration/adminPages.ts";
import { serverNow, setServerTime } from "../lib/time/clock.ts";
import { checkBuild, isReachable, useConnection } from "../lib/server/connection.ts";
import { retryFailedParts } from "../lib/server/lazyComponent.ts";
import { notifyFailures } from "../lib/browser/notify.ts";
import { announceRuns } from "../domain/runs/runChanges.ts";
import { useLiveStream } from "../lib/server/useLiveStream.ts";
import { Commands } from "./Commands.tsx";
import { ConnectionStrip } from "./ConnectionStrip.tsx";
import { Logo } from "./Logo.tsx";
import { More } from "./More.tsx";
import { RunChangesDocument, ViewerDocument } from "./shell.generated.ts";
import { SignIn } from "./SignIn.tsx";
import { SignOut } from "./SignOut.tsx";
import { VersionStrip } from "./VersionStrip.tsx";
import { ThemeSwitch } from "./ThemeSwitch.tsx";

const PLACES = [
  { to: "/", word: "Home", Icon: House },
  { to: "/runs", word: "Runs", Icon: ListChecks },
  { to: "/pipelines", word: "Pipelines", Icon: Workflow },
  { to: "/catalog", word: "Catalog", Icon: BookOpen },
  { to: "/artifacts", word: "Artifacts", Icon: Files },
] as const;

export function Shell(): ReactNode {
  const signedOut = useConnection((connection) => connection.signedOut);
  const away = useConnection(({ live, offline }) => offline || live === "reconnecting" || live === "polling");
  const [{ data }, again] = useQuery({ query: ViewerDocument });
  const navigate = useNavigate();
  const known = data !== undefined;
  const now = data?.server.now;
  useEffect(() => {
    if (now !== undefined) setServerTime(now);
  }, [now]);
  // After an outage the server may run another version, and the lists have missed changes.
  const wasAway = useRef(false);
  useEffect(() => {
    if (!away && wasAway.current) {
      again({ requestPolicy: "network-only" });
      announceRuns({ runs: [], deletedIds: [], more: true });
      retryFailedParts();
      void checkBuild();
    }
    wasAway.current = away;
  }, [away, again]);
  useLiveStream(RunChangesDocument, () => ({}), {
    key: known && !signedOut ? "all" : null,
    after: () => null,
    cursorOf: () => null,
    onMessage: ({ runChanges }) => {
      announceRuns(runChanges);
      if (data !== undefined)
        notifyFailures(
          runChanges.runs,
          data.viewer.id,
          serverNow(),
          (run) => void navigate({ to: "/runs/$run", params: { run } }),
        );
    },
    poll: async () => {
      announceRuns({ runs: [], deletedIds: [], more: true });
      again({ requestPolicy: "network-only" });
      return isReachable();
    },
  });
  // The file viewer fills the page; Escape leads back.
  const bare = useMatch({ from: "/artifacts/$artifact", shouldThrow: false }) !== undefined;
  if (signedOut) return <SignIn />;
  // The page's query does not wait for the viewer's: one after the other would take twice as long.
  const version = <VersionStrip server={data?.server.version ?? null} />;
  if (bare) {
    return (
      <>
        {version}
        <ConnectionStrip />
        <main id="main" className="px-6 pt-4 pb-8 max-md:px-4">
          <Outlet />
        </main>
      </>
    );
  }
  return (
    <div className="min-h-screen md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-page focus:p-3">
        Skip to the page
      </a>
      <Navigation name={data?.viewer.name ?? ""} version={data?.server.version ?? ""} />
      <div className="min-w-0">
        {version}
        <ConnectionStrip />
        <main id="main" className="mx-auto max-w-page px-6 pt-5 pb-24 max-md:px-4">
          <Outlet />
          <Commands />
        </main>
      </div>
    </div>
  );
}

/** A phone's bar holds four places and More. */
const WIDE = "max-md:!hidden";
const LINK =
  "flex items-center gap-2.5 rounded px-2.5 py-1.5 text-soft hover:bg-hover hover:text-ink max-md:flex-col max-md:gap-0.5 max-md:flex-1 max-md:justify-center max-md:px-1 max-md:text-meta";
const HERE_LOOK = "bg-accent-tint !text-accent font-medium";
const HERE = { className: HERE_LOOK, "aria-current": "page" } as const;

function Navigation({ name, version }: { name: string; version: string }): ReactNode {
  // Memory, tokens and similar pages belong to Settings.
  const behind = useLocation({
    select: ({ pathname }) => ADMIN_PAGES.some(({ to }) => to !== "/settings" && pathname.startsWith(to)),
  });
  return (
    <header className="border-line bg-panel max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-10 max-md:border-t md:sticky md:top-0 md:flex md:h-screen md:flex-col md:border-r md:p-3">
      <Link
        to="/"
        className="mb-4 flex items-center gap-2 px-2.5 pt-1 text-section font-semibold text-ink max-md:hidden"
      >
        <Logo />
        Packline
      </Link>
      <nav
        aria-label="Main"
        className="flex flex-1 flex-col gap-0.5 max-md:flex-row max-md:px-1 max-md:py-1 max-md:pb-[max(0.25rem,env(safe-area-inset-bottom))]"
      >
        {PLACES.map(({ to, word, Icon }) => (
          <Link
            key={to}
            to={to}
            className={to === "/artifacts" ? `${LINK} ${WIDE}` : LINK}
            activeProps={HERE}
            activeOptions={{ exact: to === "/", includeSearch: false }}
          >
            <Icon aria-hidden="true" className="size-4" />
            {word}
          </Link>
        ))}
        <Link
          to="/connect"
          className={`${LINK} ${WIDE} md:mt-auto`}
          activeProps={HERE}
          activeOptions={{ includeSearch: false }}
        >
          <Plug aria-hidden="true" className="size-4" />
          Connect
        </Link>
        <Link
          to="/settings"
          className={`${LINK} ${WIDE} ${behind ? HERE_LOOK : ""}`}
          {...(behind ? { "aria-current": "true" } : {})}
          activeProps={HERE}
          activeOptions={{ includeSearch: false }}
        >
          <Settings aria-hidden="true" className="size-4" />
          Settings
        </Link>
        <More look={LINK} here={HERE_LOOK} name={name} version={version} />
      </nav>
      <div className="mt-3 border-t border-line pt-3 max-md:hidden">
        <ThemeSwitch />
        <div className="mt-3 flex min-h-6 items-center gap-2 pl-2.5 text-meta text-soft">
          <span className="min-w-0 flex-1 truncate" {...(name === "" ? {} : { title: `Signed in as ${name}` })}>
            {name}
          </span>
          <span title="Version of the server">{version}</span>
          <SignOut />
        </div>
      </div>
    </header>
  );
}
