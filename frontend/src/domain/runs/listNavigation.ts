// The list of runs shown last, so that a run's page links to the next run and back to the list. Kept per tab.

const KEY = "packline.listed";

interface Listed {
  ids: readonly string[];
  /** The list's address, from the root of the server. */
  href: string | null;
}

export function rememberList(list: Listed): void {
  sessionStorage.setItem(KEY, JSON.stringify(list));
}

function listed(): Listed {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "") as Partial<Listed>;
    if (
      Array.isArray(kept.ids) &&
      typeof kept.href === "string" &&
      kept.href.startsWith("/") &&
      !kept.href.startsWith("//")
    )
      return { ids: kept.ids, href: kept.href };
  } catch {
    // Nothing is stored, or it cannot be read.
  }
  return { ids: [], href: null };
}

/** The run after (1) or before (-1) a run in that list; null at its ends, or when the run is not in it. */
export function neighbour(id: string, by: 1 | -1): string | null {
  const { ids } = listed();
  const place = ids.indexOf(id);
  return place === -1 ? null : (ids[place + by] ?? null);
}

/** The address of that list; null when none was shown. */
export function listHref(): string | null {
  return listed().href;
}
