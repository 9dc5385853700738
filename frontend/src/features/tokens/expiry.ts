/** How long a new token works, from what the form offers; in days. */
export const LIFETIMES = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "a year"],
  ["", "No expiration"],
] as const;

const DAY_MS = 86_400_000;

export function expiryOf(days: string, now: number): string | null {
  return days === "" ? null : new Date(now + Number(days) * DAY_MS).toISOString();
}

export type TokenStatus = "works" | "expired" | "revoked";

/** Whether a token still works. */
export function tokenStatus(token: { expiresAt: string | null; revokedAt: string | null }, now: number): TokenStatus {
  if (token.revokedAt !== null) return "revoked";
  return token.expiresAt !== null && Date.parse(token.expiresAt) <= now ? "expired" : "works";
}
