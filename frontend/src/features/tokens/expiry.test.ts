import { expect, it } from "vitest";

import { expiryOf, tokenStatus } from "./expiry.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");

it("counts days from now, or sets no end", () => {
  expect(expiryOf("30", NOW)).toBe("2026-12-22T12:00:00.000Z");
  expect(expiryOf("", NOW)).toBeNull();
});

it("tells tokens that work from those that ended", () => {
  expect(tokenStatus({ expiresAt: null, revokedAt: null }, NOW)).toBe("works");
  expect(tokenStatus({ expiresAt: "2026-11-22T12:00:00Z", revokedAt: null }, NOW)).toBe("expired");
  expect(tokenStatus({ expiresAt: null, revokedAt: "2026-11-21T12:00:00Z" }, NOW)).toBe("revoked");
});
