// The parts that pages load on first use, so that they load next to the main script and not after it. The router takes its
// paths from here and decides what is shown.

/** By path, in the order in which they are tried: the module of the page, then others that it shows at once. */
export const PAGES = {
  "/runs": ["runs/RunsPage"],
  "/runs/compare": ["compare/ComparePage"],
  "/runs/$run": ["run/RunPage", "run/step/StepTabs"],
  "/pipelines": ["pipelines/PipelinesPage"],
  "/pipelines/new": ["editor/EditorPage"],
  "/pipelines/$pipeline": ["pipelines/PipelinePage"],
  "/pipelines/$pipeline/edit": ["editor/EditorPage"],
  "/pipelines/$pipeline/versions": ["pipelines/VersionsPage"],
  "/pipelines/$pipeline/run": ["pipelines/RunFormPage"],
  "/catalog": ["catalog/CatalogPage"],
  "/catalog/$pack": ["catalog/PackPage"],
  "/artifacts": ["artifacts/ArtifactsPage"],
  "/artifacts/$artifact": ["artifacts/ArtifactPage"],
  "/connect": ["connect/ConnectPage"],
  "/credentials": ["credentials/CredentialsPage"],
  "/credentials/$credential": ["credentials/CredentialPage"],
  "/tokens": ["tokens/TokensPage"],
  "/audit": ["audit/AuditPage"],
  "/triggers": ["triggers/TriggersPage"],
  "/triggers/new": ["triggers/TriggerFormPages"],
  "/triggers/$trigger": ["triggers/TriggerPage"],
  "/triggers/$trigger/edit": ["triggers/TriggerFormPages"],
  "/memory": ["memory/MemoryPage"],
  "/proposals": ["proposals/ProposalsPage"],
  "/settings": ["settings/SettingsPage"],
} as const;

export type PagePath = keyof typeof PAGES;

/** The page at an address below the base. */
export function pageAt(address: string): PagePath | undefined {
  return (Object.keys(PAGES) as PagePath[]).find((path) =>
    new RegExp(`^${path.replaceAll(/\$\w+/g, "[^/]+")}$`).test(address),
  );
}

/** Fetches and compiles the files of a page's parts; `filesOf` is what the build lists in the page. */
export function preloadPage(
  page: PagePath,
  filesOf: Readonly<Record<string, readonly string[]>>,
  assets: string,
): void {
  for (const file of new Set(PAGES[page].flatMap((part) => filesOf[part] ?? []))) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.crossOrigin = "";
    link.href = assets + file;
    document.head.append(link);
  }
}
