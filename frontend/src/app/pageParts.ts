// Which part of the page an address needs besides what every page needs, so that it loads next to the main script and
// not after it. The router, which is in the main script, decides what is shown.

const PARTS: readonly (readonly [address: RegExp, part: string])[] = [
  [/^\/runs\/compare$/, "compare/ComparePage"],
  [/^\/pipelines$/, "pipelines/PipelinesPage"],
  [/^\/pipelines\/(new|[^/]+\/edit)$/, "editor/EditorPage"],
  [/^\/pipelines\/[^/]+$/, "pipelines/PipelinePage"],
  [/^\/pipelines\/[^/]+\/versions$/, "pipelines/VersionsPage"],
  [/^\/pipelines\/[^/]+\/run$/, "pipelines/RunFormPage"],
  [/^\/catalog$/, "catalog/CatalogPage"],
  [/^\/catalog\/[^/]+$/, "catalog/PackPage"],
  [/^\/artifacts$/, "artifacts/ArtifactsPage"],
  [/^\/artifacts\/[^/]+$/, "artifacts/ArtifactPage"],
  [/^\/connect$/, "connect/ConnectPage"],
  [/^\/credentials$/, "credentials/CredentialsPage"],
  [/^\/credentials\/[^/]+$/, "credentials/CredentialPage"],
  [/^\/tokens$/, "tokens/TokensPage"],
  [/^\/audit$/, "audit/AuditPage"],
  [/^\/triggers$/, "triggers/TriggersPage"],
  [/^\/triggers\/(new|[^/]+\/edit)$/, "triggers/TriggerFormPages"],
  [/^\/triggers\/[^/]+$/, "triggers/TriggerPage"],
  [/^\/memory$/, "memory/MemoryPage"],
  [/^\/proposals$/, "proposals/ProposalsPage"],
  [/^\/settings$/, "settings/SettingsPage"],
];

/** The part for a path below the base, as `folder/Module` of `features`. */
export function partOf(path: string): string | undefined {
  return PARTS.find(([address]) => address.test(path))?.[1];
}

/** Fetches and compiles the part's files; `filesOf` is what the build lists in the page. */
export function preloadPart(path: string, filesOf: Readonly<Record<string, readonly string[]>>, assets: string): void {
  for (const file of filesOf[partOf(path) ?? ""] ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.crossOrigin = "";
    link.href = assets + file;
    document.head.append(link);
  }
}
