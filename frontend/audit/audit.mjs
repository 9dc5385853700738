// How the main pages of a running server do in Lighthouse: `npm run audit -- LOGIN-LINK [PATH…]`.
//
// The link signs the browser in (`packline token login-link`). Every page is looked at on a desktop; with `--phone` on a
// phone as well; with `--times=3` as often, and the median of each score is told; with `--throttling-method=provided`
// as this machine shows it, not as Lighthouse reckons a slower one would. Prints the four scores of each, how long it
// took to paint and to answer, and what costs points; fails when one lies below 95.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const WANTED = 95;
const PAGES = [
  "/",
  "/runs",
  "/pipelines",
  "/catalog",
  "/artifacts",
  "/connect",
  "/memory",
  "/credentials",
  "/tokens",
  "/audit",
  "/settings",
];
const PIPELINE = ["/pipelines/sample", "/pipelines/sample/edit"];
/** What performance is reckoned from, in words. */
const WAITS = [
  ["first-contentful-paint", "first paint"],
  ["largest-contentful-paint", "largest"],
  ["speed-index", "filled"],
  ["total-blocking-time", "blocked"],
  ["cumulative-layout-shift", "shift"],
];
const CHROME = process.env.CHROME_PATH ?? "/usr/bin/chromium";

const given = process.argv.slice(2);
const phone = given.includes("--phone");
const times = Number(valueOf("--times") ?? 1);
const throttlingMethod = valueOf("--throttling-method") ?? "simulate";
const [signIn, ...paths] = given.filter((word) => !word.startsWith("--"));
if (signIn === undefined) {
  console.error("Give the address that signs in: npm run audit -- $(packline token login-link)");
  process.exit(2);
}
// The command tells a line of JSON where it does not write to a terminal.
const link = signIn.startsWith("{") ? JSON.parse(signIn).url : signIn;
const root = link.replace(/\/login#.*$/, "");

const profile = mkdtempSync(join(tmpdir(), "packline-audit-"));
const browser = await puppeteer.launch({
  executablePath: CHROME,
  headless: true,
  userDataDir: profile,
  args: ["--no-sandbox"],
});
let low = 0;
try {
  const page = await browser.newPage();
  await page.goto(link);
  await page.waitForFunction(() => !location.pathname.endsWith("/login"));
  for (const path of paths.length > 0 ? paths : [...PAGES, ...PIPELINE, ...(await newest(page))]) {
    for (const form of phone ? ["desktop", "phone"] : ["desktop"]) {
      low += await look(page, path, form);
    }
  }
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
process.exit(low === 0 ? 0 : 1);

function valueOf(name) {
  return given.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** The page of the newest run and of the newest file, where there are any. */
async function newest(page) {
  const found = await page.evaluate(async (address) => {
    const query = "{runs(first: 1) {nodes {id}} artifacts(first: 1) {nodes {id}}}";
    const answer = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    return (await answer.json()).data;
  }, `${root}/graphql`);
  return [
    ...found.runs.nodes.map(({ id }) => `/runs/${id}`),
    ...found.artifacts.nodes.map(({ id }) => `/artifacts/${id}`),
  ];
}

/** Prints one line of scores and the audits that cost points; how many scores are too low. */
async function look(page, path, form) {
  // The login is a cookie: it has to stay between pages.
  // The page asks not to be indexed, as somebody's own server should: that is no fault.
  const flags = { disableStorageReset: true, logLevel: "error", skipAudits: ["is-crawlable"], throttlingMethod };
  const scores = new Map();
  const costly = new Map();
  const waits = new Map();
  for (let time = 0; time < times; time++) {
    const { categories, audits, runtimeError } = (
      await lighthouse(root + path, flags, form === "desktop" ? desktopConfig : undefined, page)
    ).lhr;
    if (runtimeError !== undefined) costly.set("error", `It could not be measured: ${runtimeError.message}`);
    for (const [id, word] of WAITS)
      waits.set(word, [...(waits.get(word) ?? []), audits[id].numericValue ?? Number.NaN]);
    for (const { title, score, auditRefs } of Object.values(categories)) {
      scores.set(title, [...(scores.get(title) ?? []), Math.round((score ?? 0) * 100)]);
      for (const { id, weight } of auditRefs) {
        if (weight > 0 && audits[id].score !== null && audits[id].score < 0.9)
          costly.set(id, `${title}: ${audits[id].title} ${audits[id].displayValue ?? ""}`);
      }
    }
  }
  const medians = [...scores].map(([title, each]) => [title, median(each), each]);
  const told = medians.map(
    ([title, score, each]) => `${title} ${score}${new Set(each).size > 1 ? ` (${each.join(" ")})` : ""}`,
  );
  console.log(`${path.padEnd(14)} ${form.padEnd(8)} ${told.join("  ")}`);
  console.log(`    ${[...waits].map(([word, each]) => `${word} ${inUnits(word, median(each))}`).join("  ")}`);
  for (const words of costly.values()) console.log(`    ${words}`);
  return medians.filter(([, score]) => score < WANTED).length;
}

function inUnits(word, value) {
  return word === "shift" ? value.toFixed(3) : `${Math.round(value)} ms`;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
