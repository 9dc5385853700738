// Comma-separated values (RFC 4180), also with semicolons or tabs between them.

const SEPARATORS = [",", ";", "\t"] as const;

/** The rows of a text, or null when a quotation mark is never closed, so that it is no table. */
export function csvRows(text: string): string[][] | null {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = text.startsWith("\uFEFF") ? 1 : 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += character;
        at += 1;
      } else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n" || character === "\r") {
      if (character === "\r" && text[at + 1] === "\n") at += 1;
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else cell += character;
  }
  if (quoted) return null;
  if (row.length > 0 || cell !== "") rows.push([...row, cell]);
  // An empty line holds nothing.
  return rows.filter((cells) => cells.length > 1 || cells[0] !== "");
}

/** The separator that the first line has most often. */
function separatorOf(text: string): string {
  const end = text.search(/[\r\n]/);
  const first = end === -1 ? text : text.slice(0, end);
  let best: string = SEPARATORS[0];
  for (const character of SEPARATORS) {
    if (first.split(character).length > first.split(best).length) best = character;
  }
  return best;
}
