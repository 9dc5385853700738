import { Link, Outlet, useLocation, useMatch, useNavigate } from "@tanstack/react-router";
import { Plug, Settings } from "lucide-react";
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
import { BAR, BRAND, FOOT, FRAME, HERE, HERE_LOOK, LINK, NAV, PLACES, WIDE } from "./shellLook.ts";
import { RunChangesDocument, ViewerDocument } from "./shell.generated.ts";
import { SignIn } from "./SignIn.tsx";
import { SignOut } from "./SignOut.tsx";
import { VersionStrip } from "./VersionStrip.tsx";
import { ThemeSwitch } from "./ThemeSwitch.tsx";

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
    <div className={FRAME}>
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

function Navigation({ name, version }: { name: string; version: string }): ReactNode {
  // Memory, tokens and similar pages belong to Settings.
  const behind = useLocation({
    select: ({ pathname }) => ADMIN_PAGES.some(({ to }) => to !== "/settings" && pathname.startsWith(to)),
  });
  return (
    <header className={BAR}>
      <Link to="/" className={BRAND}>
        <Logo />
        Packline
      </Link>
      <nav aria-label="Main" className={NAV}>
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
      <div className={FOOT}>
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
