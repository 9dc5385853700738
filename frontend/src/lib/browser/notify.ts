// A notification of the browser when one of my runs fails while nobody looks. Asked for by a click, never by itself.

const KEY = "packline.notify";
/** Tabs hear of a failure within this time of each other; one of them tells. */
const TOGETHER_MS = 5000;

export type Permission = "on" | "off" | "denied" | "impossible";

/** Whether failures are told; `denied` is the browser's own no, which only its settings take back. */
export function permission(): Permission {
  // Browsers offer notifications over HTTPS and on this machine alone.
  if (!("Notification" in globalThis) || !globalThis.isSecureContext) return "impossible";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

/** Asks the browser, which asks whoever sits before it. Only from a click. */
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

/** When each run was last told of: a change of something else in a failed run is no failure. */
const notified = new Map<string, string>();

/** Tells of those runs that are mine and have failed just now, if nobody sees the page; `open` shows a run. */
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

/** Does it in the first tab that comes; the others find the lock taken. */
async function inOneTab(name: string, action: () => void): Promise<void> {
  await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock === null) return;
    action();
    await new Promise((resolve) => setTimeout(resolve, TOGETHER_MS));
  });
}
