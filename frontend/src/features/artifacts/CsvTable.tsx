import { type ReactNode, useMemo } from "react";

import { Code } from "../../components/Code.tsx";
import { useShowMore } from "../../components/useShowMore.tsx";
import { csvRows } from "../../lib/text/csv.ts";
import { count } from "../../lib/text/format.ts";
import { escaped } from "../../lib/text/plain.ts";

/** Rows that are drawn at once. */
const ROWS = 200;
/** Columns that are drawn; a file with more is shown as its source. */
const MOST_COLUMNS = 100;
const NUMBER = /^\s*[-+]?[\d.,\s]*\d\s*%?$/;

/** Comma-separated values as a table, the first row as its heading. */
export function CsvTable({ text, name, isCut }: { text: string; name: string; isCut: boolean }): ReactNode {
  const rows = useMemo(() => csvRows(text), [text]);
  const [heading = [], ...body] = rows ?? [];
  // The last row may have been cut off in its middle.
  const whole = isCut ? body.slice(0, -1) : body;
  const columns = Math.max(heading.length, ...whole.slice(0, ROWS).map(({ length }) => length));
  const { shown, more } = useShowMore(whole, ROWS);
  if (rows === null || columns > MOST_COLUMNS) return <Code text={text} label={name} />;
  const places = Array.from({ length: columns }, (_, place) => place);
  const numeric = places.map((place) => shown.every((row) => NUMBER.test(row[place] ?? "0")));
  return (
    <>
      <p className="mb-1 text-dense text-soft">
        {count(whole.length, "row")}, {count(columns, "column")}
      </p>
      <div
        // Wide and long tables scroll: a keyboard has to reach them.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={name}
        className="max-h-[75vh] overflow-auto rounded border border-line"
      >
        <table className="border-collapse text-dense">
          <thead>
            <tr>
              {places.map((place) => (
                <th
                  key={place}
                  scope="col"
                  dir="auto"
                  className={`sticky top-0 border-b border-line bg-panel px-3 py-1.5 font-medium whitespace-nowrap ${numeric[place] === true ? "text-right" : "text-left"}`}
                >
                  {escaped(heading[place] ?? "")}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, number) => (
              // Rows have no other name than their place.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={number} className="border-b border-line last:border-0 hover:bg-hover">
                {places.map((place) => (
                  <td
                    key={place}
                    dir="auto"
                    className={`max-w-[48ch] px-3 py-1 align-top wrap-anywhere ${numeric[place] === true ? "text-right" : ""}`}
                  >
                    {escaped(row[place] ?? "")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </>
  );
}
