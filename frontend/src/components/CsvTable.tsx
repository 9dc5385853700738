import type { ReactNode } from "react";

import { count } from "../lib/text/format.ts";
import { escaped } from "../lib/text/plain.ts";
import { useShowMore } from "./useShowMore.tsx";

export type Rows = readonly (readonly string[])[];

/** Rows that are drawn at once, alone and beside another table. */
const [ROWS, ROWS_BESIDE] = [200, 50];
/** Columns that are drawn; a file with more is shown as its source. */
export const MOST_COLUMNS = 100;
const NUMBER = /^\s*[-+]?[\d.,\s]*\d\s*%?$/;

/** The rows of a text that can be drawn; the last one of a text that was cut may lack its end. */
export function drawnRows(rows: Rows | null, isCut: boolean): Rows | null {
  if (rows === null || rows.slice(0, ROWS + 1).some(({ length }) => length > MOST_COLUMNS)) return null;
  return isCut && rows.length > 1 ? rows.slice(0, -1) : rows;
}

interface Props {
  name: string;
  rows: Rows;
  /** Another table and a colour: cells that it has not in their place are tinted. */
  beside?: { other: Rows; tint: string };
}

/** Comma-separated values as a table, the first row as its heading. */
export function CsvTable({ name, rows, beside }: Props): ReactNode {
  const [heading = [], ...body] = rows;
  const { shown, more } = useShowMore(body, beside === undefined ? ROWS : ROWS_BESIDE);
  const columns = Math.min(MOST_COLUMNS, Math.max(heading.length, ...shown.map(({ length }) => length)));
  const places = Array.from({ length: columns }, (_, place) => place);
  const numeric = places.map((place) => shown.every((row) => NUMBER.test(row[place] ?? "0")));

  function differs(row: number, place: number): boolean {
    return beside !== undefined && beside.other[row]?.[place] !== rows[row]?.[place];
  }

  function look(row: number, place: number): string {
    return `${numeric[place] === true ? "text-right" : "text-left"} ${differs(row, place) ? (beside?.tint ?? "") : row === 0 ? "bg-panel" : ""}`;
  }

  function content(row: number, place: number): ReactNode {
    return (
      <>
        {differs(row, place) ? <span className="sr-only">differs: </span> : null}
        {escaped(rows[row]?.[place] ?? "")}
      </>
    );
  }

  return (
    <div>
      <p className="mb-1 text-dense text-soft">
        {count(body.length, "row")}, {count(columns, "column")}
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
                  className={`sticky top-0 border-b border-line px-3 py-1.5 font-medium whitespace-nowrap ${look(0, place)}`}
                >
                  {content(0, place)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((_, number) => (
              // Rows have no other name than their place.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={number} className="border-b border-line last:border-0 hover:bg-hover">
                {places.map((place) => (
                  <td
                    key={place}
                    dir="auto"
                    className={`max-w-sm px-3 py-1 align-top wrap-anywhere ${look(number + 1, place)}`}
                  >
                    {content(number + 1, place)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </div>
  );
}
