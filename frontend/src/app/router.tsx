import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  useLocation,
} from "@tanstack/react-router";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";

import { Button, ButtonLink } from "../components/Button.tsx";
import { Code } from "../components/Code.tsx";
import { errorText } from "../components/ContentBoundary.tsx";
import { Empty, Page } from "../components/Page.tsx";
import { LazyPageFallback } from "../components/LazyFallback.tsx";
import { artifactSearch, artifactsSearch } from "../features/artifacts/search.ts";
import { AskBox } from "../features/ask/AskBox.tsx";
import { askSearch } from "../features/ask/search.ts";
import { auditSearch } from "../features/audit/search.ts";
import { catalogSearch } from "../features/catalog/search.ts";
import { compareSearch } from "../features/compare/search.ts";
import { connectSearch } from "../features/connect/search.ts";
import { credentialSearch, credentialsSearch } from "../features/credentials/search.ts";
import { editorSearch, newSearch } from "../features/editor/search.ts";
import { HomePage } from "../features/home/HomePage.tsx";
import { memorySearch } from "../features/memory/search.ts";
import { pipelinesSearch, versionsSearch } from "../features/pipelines/search.ts";
import { proposalsSearch } from "../features/proposals/search.ts";
import { runSearch } from "../features/run/search.ts";
import { runsSearch } from "../features/runs/filter.ts";
import { tokensSearch } from "../features/tokens/search.ts";
import { newTriggerSearch, triggerSearch, triggersSearch } from "../features/triggers/search.ts";
import { BASE } from "../lib/server/base.ts";
import { inputSearch } from "../domain/start/inputSearch.ts";
import { lazyComponent, retryFailedParts, useRetryRound } from "../lib/server/lazyComponent.ts";
import { lazyLoad } from "../lib/server/lazyLoad.ts";
import { parseSearch } from "../lib/browser/search.ts";
import { PAGES, type PagePath } from "./pageParts.ts";
import { Shell } from "./Shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NothingHere,
  errorComponent: Broken,
});
const at = { getParentRoute: () => root };

/** Loads the module of each page, by its name in `PAGES`. */
const LOAD = {
  "runs/RunsPage": lazyLoad(() => import("../features/runs/RunsPage.tsx")),
  "run/RunPage": lazyLoad(() => import("../features/run/RunPage.tsx")),
  "pipelines/PipelinesPage": lazyLoad(() => import("../features/pipelines/PipelinesPage.tsx")),
  "pipelines/PipelinePage": lazyLoad(() => import("../features/pipelines/PipelinePage.tsx")),
  "editor/EditorPage": lazyLoad(() => import("../features/editor/EditorPage.tsx")),
  "pipelines/VersionsPage": lazyLoad(() => import("../features/pipelines/VersionsPage.tsx")),
  "pipelines/RunFormPage": lazyLoad(() => import("../features/pipelines/RunFormPage.tsx")),
  "compare/ComparePage": lazyLoad(() => import("../features/compare/ComparePage.tsx")),
  "catalog/CatalogPage": lazyLoad(() => import("../features/catalog/CatalogPage.tsx")),
  "catalog/PackPage": lazyLoad(() => import("../features/catalog/PackPage.tsx")),
  "artifacts/ArtifactsPage": lazyLoad(() => import("../features/artifacts/ArtifactsPage.tsx")),
  "connect/ConnectPage": lazyLoad(() => import("../features/connect/ConnectPage.tsx")),
  "artifacts/ArtifactPage": lazyLoad(() => import("../features/artifacts/ArtifactPage.tsx")),
  "credentials/CredentialsPage": lazyLoad(() => import("../features/credentials/CredentialsPage.tsx")),
  "credentials/CredentialPage": lazyLoad(() => import("../features/credentials/CredentialPage.tsx")),
  "tokens/TokensPage": lazyLoad(() => import("../features/tokens/TokensPage.tsx")),
  "audit/AuditPage": lazyLoad(() => import("../features/audit/AuditPage.tsx")),
  "proposals/ProposalsPage": lazyLoad(() => import("../features/proposals/ProposalsPage.tsx")),
  "triggers/TriggersPage": lazyLoad(() => import("../features/triggers/TriggersPage.tsx")),
  "triggers/TriggerPage": lazyLoad(() => import("../features/triggers/TriggerPage.tsx")),
  "triggers/TriggerFormPages": lazyLoad(() => import("../features/triggers/TriggerFormPages.tsx")),
  "memory/MemoryPage": lazyLoad(() => import("../features/memory/MemoryPage.tsx")),
  "settings/SettingsPage": lazyLoad(() => import("../features/settings/SettingsPage.tsx")),
};

type Load<Path extends PagePath> = (typeof LOAD)[(typeof PAGES)[Path][0]];

/** The route of a page that loads on first use. */
function lazyPage<const Path extends PagePath>(path: Path, name: string & keyof Awaited<ReturnType<Load<Path>>>) {
  // A module is a record of its components; `name` is one of this module's.
  const load = LOAD[PAGES[path][0]] as () => Promise<unknown> as () => Promise<Record<string, ComponentType>>;
  return { ...at, path, component: lazyComponent(load, name) };
}

const routes = root.addChildren([
  createRoute({ ...at, path: "/", component: Home, validateSearch: askSearch }),
  createRoute({ ...lazyPage("/runs", "RunsPage"), validateSearch: runsSearch }),
  createRoute({ ...lazyPage("/runs/compare", "ComparePage"), validateSearch: compareSearch }),
  createRoute({ ...lazyPage("/runs/$run", "RunPage"), validateSearch: runSearch }),
  createRoute({ ...lazyPage("/pipelines", "PipelinesPage"), validateSearch: pipelinesSearch }),
  createRoute(lazyPage("/pipelines/$pipeline", "PipelinePage")),
  createRoute({ ...lazyPage("/pipelines/new", "NewPipelinePage"), validateSearch: newSearch }),
  createRoute({ ...lazyPage("/pipelines/$pipeline/edit", "EditorPage"), validateSearch: editorSearch }),
  createRoute({ ...lazyPage("/pipelines/$pipeline/versions", "VersionsPage"), validateSearch: versionsSearch }),
  createRoute({ ...lazyPage("/pipelines/$pipeline/run", "RunFormPage"), validateSearch: inputSearch }),
  createRoute({ ...lazyPage("/catalog", "CatalogPage"), validateSearch: catalogSearch }),
  createRoute({ ...lazyPage("/catalog/$pack", "PackPage"), validateSearch: inputSearch }),
  createRoute({ ...lazyPage("/artifacts", "ArtifactsPage"), validateSearch: artifactsSearch }),
  createRoute({ ...lazyPage("/connect", "ConnectPage"), validateSearch: connectSearch }),
  createRoute({ ...lazyPage("/artifacts/$artifact", "ArtifactPage"), validateSearch: artifactSearch }),
  createRoute({ ...lazyPage("/credentials", "CredentialsPage"), validateSearch: credentialsSearch }),
  createRoute({ ...lazyPage("/credentials/$credential", "CredentialPage"), validateSearch: credentialSearch }),
  createRoute({ ...lazyPage("/tokens", "TokensPage"), validateSearch: tokensSearch }),
  createRoute({ ...lazyPage("/audit", "AuditPage"), validateSearch: auditSearch }),
  createRoute({ ...lazyPage("/triggers", "TriggersPage"), validateSearch: triggersSearch }),
  createRoute({ ...lazyPage("/triggers/new", "NewTriggerPage"), validateSearch: newTriggerSearch }),
  createRoute({ ...lazyPage("/triggers/$trigger", "TriggerPage"), validateSearch: triggerSearch }),
  createRoute(lazyPage("/triggers/$trigger/edit", "EditTriggerPage")),
  createRoute({ ...lazyPage("/memory", "MemoryPage"), validateSearch: memorySearch }),
  createRoute({ ...lazyPage("/proposals", "ProposalsPage"), validateSearch: proposalsSearch }),
  createRoute(lazyPage("/settings", "SettingsPage")),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: BASE === "" ? "/" : BASE,
  parseSearch,
  defaultPreload: "intent",
  defaultErrorComponent: Broken,
  defaultPendingComponent: LazyPageFallback,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function Home(): ReactNode {
  return <HomePage ask={<AskBox />} />;
}

function NothingHere(): ReactNode {
  const { pathname } = useLocation();
  return (
    <Page title="There is no such page">
      <Empty
        action={
          <p className="flex flex-wrap gap-x-4 gap-y-1">
            <Link to="/" className="link">
              Home
            </Link>
            <Link to="/runs" className="link">
              Runs
            </Link>
            <Link to="/pipelines" className="link">
              Pipelines
            </Link>
            <Link to="/catalog" className="link">
              Catalog
            </Link>
          </p>
        }
      >
        Nothing is at <code className="font-mono wrap-anywhere">{pathname}</code>. The address may be mistyped, or the
        page has moved.
      </Empty>
    </Page>
  );
}

/** Shown in place of a page that failed to render; the navigation stays. */
function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  const round = useRetryRound();
  const [failedIn] = useState(round);
  useEffect(() => {
    if (round !== failedIn) reset();
  }, [round, failedIn, reset]);
  return (
    <Page title="This page cannot be shown">
      <p className="max-w-reading">
        An error occurred while displaying it. Runs continue, and nothing has changed on the server. If trying again
        does not help, reload the page. If it still fails, report the text below.
      </p>
      <div className="my-3 flex flex-wrap gap-2">
        <Button
          kind="primary"
          onClick={() => {
            retryFailedParts();
            reset();
          }}
        >
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload the page</Button>
        <ButtonLink to="/">Home</ButtonLink>
      </div>
      <Code text={errorText(error)} label="What failed" />
    </Page>
  );
}
