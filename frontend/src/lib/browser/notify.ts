// A browser notification when a run of the user fails while the tab is hidden. Enabled by a click only.

const KEY = "packline.notify";
/** All tabs learn of a failure within this time; one of them notifies. */
const TOGETHER_MS = 5000;

export type Permission = "on" | "off" | "denied" | "impossible";

/** Whether failures are notified; `denied` means blocked in the browser's settings. */
export function permission(): Permission {
  // Browsers offer notifications over HTTPS and on this machine alone.
  if (!("Notification" in globalThis) || !globalThis.isSecureContext) return "impossible";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

/** Lets the browser ask the user for permission. Call it only from a click. */
export async function switchOn(): Promise<Permission> {
  if (permission() === "impossible") return "impossible";
  if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
  return permission();
}

export function switchOff(): Permission {
  localStorage.removeItem(KEY);
  return permission();
}

export interface Failed {
  id: string;
  title: string;
  state: string;
  endedAt: string | null;
  caller: { id: string };
  failure: { message: string } | null;
}

/** End times already notified, by run: other changes of a failed run are not new failures. */
const notified = new Map<string, string>();

/** Notifies of the user's runs that just failed, if the tab is hidden; `open` shows a run. */
export function notifyFailures(runs: readonly Failed[], me: string, now: number, open: (run: string) => void): void {
  for (const run of runs) {
    if (run.state !== "FAILED" || run.caller.id !== me || run.endedAt === null) continue;
    const isNews = notified.get(run.id) !== run.endedAt && now - Date.parse(run.endedAt) < 60_000;
    notified.set(run.id, run.endedAt);
    if (isNews && document.hidden && permission() === "on")
      void inOneTab(`packline.failed.${run.id}.${run.endedAt}`, () => show(run, open));
  }
}

function show(run: Failed, open: (run: string) => void): void {
  const notification = new Notification(`${run.title} failed`, { body: run.failure?.message ?? "", tag: run.id });
  notification.addEventListener("click", () => {
    window.focus();
    notification.close();
    open(run.id);
  });
}

/** Runs the action in one tab only; the others find the lock taken. */
async function inOneTab(name: string, action: () => void): Promise<void> {
  await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock === null) return;
    action();
    await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
  });
}
