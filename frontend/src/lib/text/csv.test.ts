import { expect, test } from "vitest";

import { csvRows } from "./csv.ts";

test.each([
  [
    "name,city\nAda,London\n",
    [
      ["name", "city"],
      ["Ada", "London"],
    ],
  ],
  [
    'a,"b, with ""quotes""\nand a line"\r\n1,2',
    [
      ["a", 'b, with "quotes"\nand a line'],
      ["1", "2"],
    ],
  ],
  [
    "a;b\n1,5;2",
    [
      ["a", "b"],
      ["1,5", "2"],
    ],
  ],
  [
    "a\tb\n\n1\t",
    [
      ["a", "b"],
      ["1", ""],
    ],
  ],
  ["\uFEFFa,b", [["a", "b"]]],
  ['5" pipe,1', [['5" pipe', "1"]]],
  ["", []],
])("%j has these rows", (text, rows) => {
  expect(csvRows(text)).toEqual(rows);
});

test("a text whose quotation never ends is no table", () => {
  expect(csvRows('a,"b\n1,2')).toBeNull();
});
