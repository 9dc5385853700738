// The lines of an attempt's log: read from the server in blocks as they are looked at, streamed while it runs, and
// searched on the server.

import { LEVELS, type LogAddress } from "./address.ts";

export interface Line {
  /** From 1 within the log. */
  number: number;
  at: string;
  level: Level;
  text: string;
}

export type Level = "DEBUG" | "INFO" | "WARNING" | "ERROR";

/** What is searched for. */
export interface Wanted {
  text: string;
  levels: readonly Level[] | null;
}

const SEVERE: readonly Level[] = ["ERROR", "WARNING", "INFO"];

export function wantedOf({ find, level }: LogAddress): Wanted {
  return {
    text: find ?? "",
    levels: level === undefined ? null : SEVERE.slice(0, SEVERE.length - LEVELS.indexOf(level)),
  };
}

export interface Page {
  lines: readonly Line[];
  /** How many lines match. */
  total: number;
  /** The cursor after its last line; null when it is empty. */
  end: string | null;
  more: boolean;
}

export interface Asked {
  filter?: { text: string | null; levels: Level[] | null };
  fromLine?: number;
  after?: string | null;
  first?: number;
  last?: number;
}

/** Reads a page; null when it could not be read. */
export type Read = (asked: Asked) => Promise<Page | null>;

/** Lines that are drawn together: more at once would be felt when scrolling. */
export const BLOCK = 50;
/** Lines that are read together. */
export const PAGE = 4 * BLOCK;
/** The server gives no more at once. */
export const MOST = 500;

export function isSearch({ text, levels }: Wanted): boolean {
  return text !== "" || levels !== null;
}

/** Whether a line that was streamed matches. Ignores the case of all letters, a server on SQLite only of ASCII ones. */
export function matches(line: Line, { text, levels }: Wanted): boolean {
  return (
    (levels === null || levels.includes(line.level)) &&
    (line.text.includes(text) || line.text.toLowerCase().includes(text.toLowerCase()))
  );
}

/** What a list shows: the whole log, or the lines that were found. */
export interface Shown {
  count: number;
  lineAt: (index: number) => Line | undefined;
}

interface Found {
  wanted: Wanted;
  lines: Line[];
  total: number;
  end: string | null;
  more: boolean;
  /** The answer that is awaited; false if it could not be read. */
  reading: Promise<boolean> | null;
}

export class LogLines {
  readonly #read: Read;
  readonly #lines = new Map<number, Line>();
  #total: number;
  #found: Found | null = null;
  readonly #asked = new Set<number>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  constructor(read: Read, end: Page) {
    this.#read = read;
    for (const line of end.lines) this.#lines.set(line.number, line);
    this.#total = end.lines.at(-1)?.number ?? 0;
  }

  /** Number of lines in the log. */
  get total(): number {
    return this.#total;
  }

  /** Whether the first answer to the search is awaited. */
  get searching(): boolean {
    return this.#found !== null && this.#found.reading !== null && this.#found.end === null;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  shown(): Shown {
    const found = this.#found;
    return found === null
      ? { count: this.#total, lineAt: (index) => this.#lines.get(index + 1) }
      : { count: found.total, lineAt: (index) => found.lines[index] };
  }

  /** Reads a block of what is shown, unless it is there or asked for. */
  async need(block: number): Promise<void> {
    const found = this.#found;
    if (found !== null) return this.#more(found, () => found.lines.length >= (block + 1) * BLOCK);
    const from = block * BLOCK + 1;
    const first = from - ((from - 1) % PAGE);
    if (this.#asked.has(first) || this.#has(from, Math.min(this.#total, from + BLOCK - 1))) return;
    this.#asked.add(first);
    const page = await this.#read({ fromLine: first, first: PAGE });
    this.#asked.delete(first);
    if (page !== null) this.append(page.lines);
  }

  /** Adds lines that were read or streamed; known ones do no harm. */
  append(lines: readonly Line[]): void {
    const found = this.#found;
    for (const line of lines) {
      const isNew = line.number > this.#total;
      this.#lines.set(line.number, line);
      if (!isNew) continue;
      this.#total = line.number;
      if (found === null || !matches(line, found.wanted)) continue;
      found.total += 1;
      if (!found.more) found.lines.push(line);
    }
    this.#changed();
  }

  /** Shows only the lines that match. */
  async search(wanted: Wanted): Promise<void> {
    if (!isSearch(wanted)) {
      this.#found = null;
      this.#changed();
      return;
    }
    const found: Found = { wanted, lines: [], total: 0, end: null, more: true, reading: null };
    this.#found = found;
    await this.#more(found, () => found.lines.length > 0);
  }

  /** The index of a line in what is shown; null if it is not shown. */
  async indexOf(number: number): Promise<number | null> {
    const found = this.#found;
    if (found === null) return number <= this.#total ? number - 1 : null;
    await this.#more(found, () => (found.lines.at(-1)?.number ?? 0) >= number);
    const index = found.lines.findIndex((line) => line.number === number);
    return index === -1 ? null : index;
  }

  /** The whole text, a line each. */
  async text(): Promise<string | null> {
    const texts: string[] = [];
    for (let from = 1; from <= this.#total; from += MOST) {
      const page = await this.#read({ fromLine: from, first: MOST });
      if (page === null) return null;
      texts.push(...page.lines.map(({ at, level, text }) => `${at} ${level} ${text}`));
    }
    return `${texts.join("\n")}\n`;
  }

  #has(from: number, to: number): boolean {
    for (let number = from; number <= to; number += 1) if (!this.#lines.has(number)) return false;
    return true;
  }

  /** Reads on until enough of what was found is known. */
  async #more(found: Found, isEnough: () => boolean): Promise<void> {
    while (this.#found === found && found.more && !isEnough()) {
      found.reading ??= this.#next(found);
      this.#changed();
      if (!(await found.reading)) return;
    }
  }

  /** Reads the next page of what was found. */
  async #next(found: Found): Promise<boolean> {
    const { text, levels } = found.wanted;
    const before = this.#total;
    const page = await this.#read({
      filter: { text: text === "" ? null : text, levels: levels === null ? null : [...levels] },
      after: found.end,
      first: MOST,
    });
    found.reading = null;
    if (page !== null) {
      const known = found.lines.at(-1)?.number ?? 0;
      found.lines.push(...page.lines.filter(({ number }) => number > known));
      found.end = page.end ?? found.end;
      found.more = page.more;
      found.total = Math.max(page.total, found.lines.length);
      if (!page.more) this.#catchUp(found, before);
    }
    this.#changed();
    return page !== null;
  }

  /** Adds what was streamed while the last page was on its way and is not on it. */
  #catchUp(found: Found, before: number): void {
    const known = Math.max(before, found.lines.at(-1)?.number ?? 0);
    for (let number = known + 1; number <= this.#total; number += 1) {
      const line = this.#lines.get(number);
      if (line !== undefined && matches(line, found.wanted)) found.lines.push(line);
    }
    found.total = found.lines.length;
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
