// Checks a value against its JSON Schema, with messages for a form. The server checks again and decides.

import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";

import { decoded, own } from "../../lib/json/untrusted.ts";

export interface Violation {
  /** Where in the value, from its root. */
  path: string[];
  message: string;
}

/** Keywords that only say that something below them is wrong. */
const AROUND = new Set([
  "properties",
  "items",
  "prefixItems",
  "allOf",
  "$ref",
  "additionalProperties",
  "patternProperties",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "contains",
  "false",
]);

/** All violations, deepest first; empty for a valid value or an unreadable schema. */
export function violationsOf(schema: unknown, value: unknown): Violation[] {
  let units: OutputUnit[];
  try {
    units = new Validator(schema as Schema, "2020-12", false).validate(value).errors;
  } catch {
    return [];
  }
  // Branches of a choice fail one by one; one message says that none matches.
  const choices = units
    .filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf")
    .map(({ keywordLocation }) => `${keywordLocation}/`);
  const found = units
    .filter(
      ({ keyword, keywordLocation }) =>
        !AROUND.has(keyword) && !choices.some((choice) => keywordLocation.startsWith(choice)),
    )
    .flatMap((unit) => violationOf(unit, schema));
  const known = new Set<string>();
  return found.filter(({ path, message }) => {
    const name = JSON.stringify([path, message]);
    return known.has(name) ? false : known.add(name);
  });
}

/** The violations by top-level field; others under the empty name. */
export function problemsByField(schema: unknown, value: unknown): Record<string, string> {
  const problems = new Map<string, string>();
  for (const { path, message } of violationsOf(schema, value)) {
    const [name = "", ...inner] = path;
    const text = inner.length === 0 ? message : `At ${inner.join(".")}: ${message}`;
    const before = problems.get(name);
    problems.set(name, before === undefined ? text : `${before} ${text}`);
  }
  return Object.fromEntries(problems);
}

function violationOf({ keyword, keywordLocation, instanceLocation, error }: OutputUnit, schema: unknown): Violation[] {
  const path = pointer(instanceLocation);
  const limit = at(schema, pointer(keywordLocation));
  switch (keyword) {
    case "required": {
      const name = /"([^"]+)"/.exec(error)?.[1];
      return [{ path: name === undefined ? path : [...path, name], message: "Required." }];
    }
    case "type":
      return [
        {
          path,
          message: `Must be ${[limit]
            .flat()
            .map((type) => TYPES[String(type)] ?? String(type))
            .join(" or ")}.`,
        },
      ];
    case "enum":
      return [{ path, message: `Must be one of ${[limit].flat().map(String).join(", ")}.` }];
    case "const":
      return [{ path, message: `Must be ${JSON.stringify(limit)}.` }];
    case "minLength":
      return [
        { path, message: limit === 1 ? "Must not be empty." : `Must have at least ${String(limit)} characters.` },
      ];
    case "maxLength":
      return [{ path, message: `Must have at most ${String(limit)} characters.` }];
    case "minItems":
      return [{ path, message: `Must have at least ${String(limit)} items.` }];
    case "maxItems":
      return [{ path, message: `Must have at most ${String(limit)} items.` }];
    case "uniqueItems":
      return [{ path, message: "Items must be unique." }];
    case "minimum":
      return [{ path, message: `Must be ${String(limit)} or more.` }];
    case "maximum":
      return [{ path, message: `Must be ${String(limit)} or less.` }];
    case "exclusiveMinimum":
      return [{ path, message: `Must be more than ${String(limit)}.` }];
    case "exclusiveMaximum":
      return [{ path, message: `Must be less than ${String(limit)}.` }];
    case "multipleOf":
      return [{ path, message: `Must be a multiple of ${String(limit)}.` }];
    case "pattern":
      return [{ path, message: `Must match the pattern ${String(limit)}.` }];
    case "format":
      return [{ path, message: `Must be ${FORMATS[String(limit)] ?? String(limit)}.` }];
    case "anyOf":
    case "oneOf":
      return [{ path, message: noneOf(limit) }];
    default:
      return [{ path, message: error }];
  }
}

const TYPES: Record<string, string> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
  null: "empty",
};
const FORMATS: Record<string, string> = {
  uri: "a URL, such as https://example.com/page",
  email: "an email address",
  date: "a date, such as 2026-05-01",
  "date-time": "a date and time, such as 2026-05-01T12:00:00Z",
};

/** The common case is a choice between required fields. */
function noneOf(branches: unknown): string {
  const names = (Array.isArray(branches) ? branches : []).map((branch: { required?: unknown } | null) =>
    Array.isArray(branch?.required) ? branch.required.join(" and ") : undefined,
  );
  return names.length > 0 && names.every((name) => name !== undefined)
    ? `Give one of ${names.join(", ")}.`
    : "Must match one of the allowed forms.";
}

function pointer(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** References that are followed one after the other. */
const MOST_REFERENCES = 100;

/** The value at a path of the schema. Follows references, but not in circles. */
function at(root: unknown, path: readonly string[]): unknown {
  const left = [...path];
  let found = root;
  let followed = 0;
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    found = found === null || typeof found !== "object" ? undefined : own(found as Record<string, unknown>, part);
    if (part !== "$ref" || typeof found !== "string") continue;
    followed += 1;
    if (followed > MOST_REFERENCES) return undefined;
    left.unshift(...pointer(found));
    found = root;
  }
  return found;
}
