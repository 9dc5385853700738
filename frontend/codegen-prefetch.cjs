// Writes the texts of the queries that `src/app/prefetch.ts` sends before the page's main script has loaded. Like the
// cache, they ask for `__typename` in every selection but the outermost.
const { Kind, print, visit } = require("graphql");

const TYPENAME = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: "__typename" } };

function withTypenames(definition) {
  return visit(definition, {
    SelectionSet(node, _key, parent) {
      if (parent.kind === Kind.OPERATION_DEFINITION || node.selections.some(({ name }) => name?.value === "__typename"))
        return undefined;
      return { ...node, selections: [...node.selections, TYPENAME] };
    },
  });
}

function spreadIn(definition) {
  const names = [];
  visit(definition, { FragmentSpread: ({ name }) => void names.push(name.value) });
  return names;
}

module.exports.plugin = (_schema, documents, { operations }) => {
  const definitions = new Map(
    documents.flatMap(({ document }) => document.definitions).map((definition) => [definition.name.value, definition]),
  );
  const texts = operations.map((name) => {
    const wanted = new Set([name]);
    for (const one of wanted) for (const spread of spreadIn(definitions.get(one))) wanted.add(spread);
    const text = [...wanted].map((one) => print(withTypenames(definitions.get(one)))).join(" ");
    return `  ${name}: ${JSON.stringify(text.replaceAll(/\s+/g, " "))},`;
  });
  return ["// Written by `npm run codegen`.", "export const PREFETCHED = {", ...texts, "} as const;", ""].join("\n");
};
