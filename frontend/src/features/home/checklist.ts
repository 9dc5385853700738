// The checklist for new users, and whether it was dismissed.

const KEY = "packline.started";

export function isDismissed(): boolean {
  return localStorage.getItem(KEY) === "done";
}

export function dismiss(): void {
  localStorage.setItem(KEY, "done");
}

export interface Known {
  byAgent: { nodes: readonly unknown[] };
  mine: { nodes: readonly unknown[] };
  modelRoles: readonly { chain: readonly { kind: string; availability: { usable: boolean } }[] }[];
}

/** The completed items. */
export function completedItems(known: Known): { agent: boolean; model: boolean; pipeline: boolean } {
  return {
    agent: known.byAgent.nodes.length > 0,
    model: known.modelRoles.some(({ chain }) =>
      chain.some(({ kind, availability }) => kind === "TEXT" && availability.usable),
    ),
    pipeline: known.mine.nodes.length > 0,
  };
}
