// How the main pages of a running server do in Lighthouse: `npm run audit -- LOGIN-LINK [PATH…]`.
//
// The link signs the browser in (`packline token login-link`). Every page is looked at on a desktop; with `--phone`
// on a phone as well. Prints the four scores of each and what costs points; fails when one lies below 95.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const WANTED = 0.95;
const PAGES = ["/", "/runs", "/pipelines", "/catalog", "/artifacts", "/connect", "/credentials", "/tokens", "/audit", "/settings"];
const CHROME = process.env.CHROME_PATH ?? "/usr/bin/chromium";

const given = process.argv.slice(2);
const phone = given.includes("--phone");
const [link, ...paths] = given.filter((word) => !word.startsWith("--"));
if (link === undefined) {
  console.error("Give the address that signs in: npm run audit -- $(packline token login-link)");
  process.exit(2);
}
const root = link.replace(/\/login#.*$/, "");

const profile = mkdtempSync(join(tmpdir(), "packline-audit-"));
const browser = await puppeteer.launch({ executablePath: CHROME, headless: true, userDataDir: profile, args: ["--no-sandbox"] });
let low = 0;
try {
  const page = await browser.newPage();
  await page.goto(link);
  await page.waitForFunction(() => !location.pathname.endsWith("/login"));
  for (const path of paths.length > 0 ? paths : PAGES) {
    for (const form of phone ? ["desktop", "phone"] : ["desktop"]) {
      low += await look(page, path, form);
    }
  }
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exit(low === 0 ? 0 : 1);

/** Prints one line of scores and the audits that cost points; how many scores are too low. */
async function look(page, path, form) {
  // The login is a cookie: it has to stay between pages.
  // The page asks not to be indexed, as somebody's own server should: that is no fault.
  const flags = { disableStorageReset: true, logLevel: "error", skipAudits: ["is-crawlable"] };
  const found = await lighthouse(root + path, flags, form === "desktop" ? desktopConfig : undefined, page);
  const { categories, audits } = found.lhr;
  const scores = Object.values(categories).map(({ title, score }) => `${title} ${Math.round((score ?? 0) * 100)}`);
  console.log(`${path.padEnd(14)} ${form.padEnd(8)} ${scores.join("  ")}`);
  const bad = Object.values(categories).filter(({ score }) => (score ?? 0) < WANTED);
  for (const category of Object.values(categories)) {
    const costly = category.auditRefs.filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 0.9);
    for (const { id } of costly) console.log(`    ${category.title}: ${audits[id].title} ${audits[id].displayValue ?? ""}`);
  }
  return bad.length;
}
