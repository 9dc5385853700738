import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  useLocation,
} from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";

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
import { RunPage } from "../features/run/RunPage.tsx";
import { runSearch } from "../features/run/search.ts";
import { RunsPage } from "../features/runs/RunsPage.tsx";
import { runsSearch } from "../features/runs/filter.ts";
import { tokensSearch } from "../features/tokens/search.ts";
import { newTriggerSearch, triggerSearch, triggersSearch } from "../features/triggers/search.ts";
import { BASE } from "../lib/server/base.ts";
import { inputSearch } from "../domain/start/inputSearch.ts";
import { lazyComponent, retryFailedParts, useRetryRound } from "../lib/server/lazyComponent.ts";
import { lazyLoad } from "../lib/server/lazyLoad.ts";
import { parseSearch } from "../lib/browser/search.ts";
import { Shell } from "./Shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NothingHere,
  errorComponent: Broken,
});
const at = { getParentRoute: () => root };

const pipelines = lazyLoad(() => import("../features/pipelines/PipelinesPage.tsx"));
const pipeline = lazyLoad(() => import("../features/pipelines/PipelinePage.tsx"));
const editor = lazyLoad(() => import("../features/editor/EditorPage.tsx"));
const versions = lazyLoad(() => import("../features/pipelines/VersionsPage.tsx"));
const runForm = lazyLoad(() => import("../features/pipelines/RunFormPage.tsx"));
const compare = lazyLoad(() => import("../features/compare/ComparePage.tsx"));
const catalog = lazyLoad(() => import("../features/catalog/CatalogPage.tsx"));
const pack = lazyLoad(() => import("../features/catalog/PackPage.tsx"));
const artifacts = lazyLoad(() => import("../features/artifacts/ArtifactsPage.tsx"));
const connect = lazyLoad(() => import("../features/connect/ConnectPage.tsx"));
const artifact = lazyLoad(() => import("../features/artifacts/ArtifactPage.tsx"));
const credentials = lazyLoad(() => import("../features/credentials/CredentialsPage.tsx"));
const credential = lazyLoad(() => import("../features/credentials/CredentialPage.tsx"));
const tokens = lazyLoad(() => import("../features/tokens/TokensPage.tsx"));
const audit = lazyLoad(() => import("../features/audit/AuditPage.tsx"));
const proposals = lazyLoad(() => import("../features/proposals/ProposalsPage.tsx"));
const triggers = lazyLoad(() => import("../features/triggers/TriggersPage.tsx"));
const trigger = lazyLoad(() => import("../features/triggers/TriggerPage.tsx"));
const triggerForm = lazyLoad(() => import("../features/triggers/TriggerFormPages.tsx"));
const memory = lazyLoad(() => import("../features/memory/MemoryPage.tsx"));
const settings = lazyLoad(() => import("../features/settings/SettingsPage.tsx"));

const routes = root.addChildren([
  createRoute({ ...at, path: "/", component: Home, validateSearch: askSearch }),
  createRoute({ ...at, path: "/runs", component: RunsPage, validateSearch: runsSearch }),
  createRoute({
    ...at,
    path: "/runs/compare",
    component: lazyComponent(compare, "ComparePage"),
    validateSearch: compareSearch,
  }),
  createRoute({ ...at, path: "/runs/$run", component: RunPage, validateSearch: runSearch }),
  createRoute({
    ...at,
    path: "/pipelines",
    component: lazyComponent(pipelines, "PipelinesPage"),
    validateSearch: pipelinesSearch,
  }),
  createRoute({ ...at, path: "/pipelines/$pipeline", component: lazyComponent(pipeline, "PipelinePage") }),
  createRoute({
    ...at,
    path: "/pipelines/new",
    component: lazyComponent(editor, "NewPipelinePage"),
    validateSearch: newSearch,
  }),
  createRoute({
    ...at,
    path: "/pipelines/$pipeline/edit",
    component: lazyComponent(editor, "EditorPage"),
    validateSearch: editorSearch,
  }),
  createRoute({
    ...at,
    path: "/pipelines/$pipeline/versions",
    component: lazyComponent(versions, "VersionsPage"),
    validateSearch: versionsSearch,
  }),
  createRoute({
    ...at,
    path: "/pipelines/$pipeline/run",
    component: lazyComponent(runForm, "RunFormPage"),
    validateSearch: inputSearch,
  }),
  createRoute({
    ...at,
    path: "/catalog",
    component: lazyComponent(catalog, "CatalogPage"),
    validateSearch: catalogSearch,
  }),
  createRoute({
    ...at,
    path: "/catalog/$pack",
    component: lazyComponent(pack, "PackPage"),
    validateSearch: inputSearch,
  }),
  createRoute({
    ...at,
    path: "/artifacts",
    component: lazyComponent(artifacts, "ArtifactsPage"),
    validateSearch: artifactsSearch,
  }),
  createRoute({
    ...at,
    path: "/connect",
    component: lazyComponent(connect, "ConnectPage"),
    validateSearch: connectSearch,
  }),
  createRoute({
    ...at,
    path: "/artifacts/$artifact",
    component: lazyComponent(artifact, "ArtifactPage"),
    validateSearch: artifactSearch,
  }),
  createRoute({
    ...at,
    path: "/credentials",
    component: lazyComponent(credentials, "CredentialsPage"),
    validateSearch: credentialsSearch,
  }),
  createRoute({
    ...at,
    path: "/credentials/$credential",
    component: lazyComponent(credential, "CredentialPage"),
    validateSearch: credentialSearch,
  }),
  createRoute({
    ...at,
    path: "/tokens",
    component: lazyComponent(tokens, "TokensPage"),
    validateSearch: tokensSearch,
  }),
  createRoute({
    ...at,
    path: "/audit",
    component: lazyComponent(audit, "AuditPage"),
    validateSearch: auditSearch,
  }),
  createRoute({
    ...at,
    path: "/triggers",
    component: lazyComponent(triggers, "TriggersPage"),
    validateSearch: triggersSearch,
  }),
  createRoute({
    ...at,
    path: "/triggers/new",
    component: lazyComponent(triggerForm, "NewTriggerPage"),
    validateSearch: newTriggerSearch,
  }),
  createRoute({
    ...at,
    path: "/triggers/$trigger",
    component: lazyComponent(trigger, "TriggerPage"),
    validateSearch: triggerSearch,
  }),
  createRoute({
    ...at,
    path: "/triggers/$trigger/edit",
    component: lazyComponent(triggerForm, "EditTriggerPage"),
  }),
  createRoute({
    ...at,
    path: "/memory",
    component: lazyComponent(memory, "MemoryPage"),
    validateSearch: memorySearch,
  }),
  createRoute({
    ...at,
    path: "/proposals",
    component: lazyComponent(proposals, "ProposalsPage"),
    validateSearch: proposalsSearch,
  }),
  createRoute({ ...at, path: "/settings", component: lazyComponent(settings, "SettingsPage") }),
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
