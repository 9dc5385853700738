/** The isolation of an agent's program, as part of a sentence. */
export const ISOLATION: Record<"PROCESS" | "SANDBOX" | "SANDBOX_OFFLINE", string> = {
  PROCESS: "in a separate process, without a sandbox",
  SANDBOX: "in a sandbox",
  SANDBOX_OFFLINE: "in a sandbox without network",
};
