// The time zone times are shown in: the browser's, unless another is chosen; kept in this browser.

const KEY = "packline.zone";

function kept(): string | null {
  if (typeof localStorage === "undefined") return null;
  const name = localStorage.getItem(KEY);
  return name !== null && isZone(name) ? name : null;
}

/** Whether the browser knows a zone. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

let chosen = kept();

/** The zone that was chosen; null for the browser's own. */
export function zone(): string | null {
  return chosen;
}

export function setZone(name: string | null): void {
  chosen = name;
  if (name === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, name);
}

/** For `toLocaleString` and its like. */
export function inZone(): { timeZone?: string } {
  return chosen === null ? {} : { timeZone: chosen };
}

/** The browser's own zone. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Zones to choose from, UTC first. */
export function zones(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
}
