// Writes what graphcache needs of the schema: names, kinds, possible types, and which fields may be null. Of these,
// what some document of the page asks for: every page loads it before it shows anything.
const {
  isAbstractType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isListType,
  isUnionType,
  isLeafType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} = require("graphql");

const ANY = { kind: "SCALAR", name: "Any" };

function typeRef(type) {
  if (isNonNullType(type)) return { kind: "NON_NULL", ofType: typeRef(type.ofType) };
  if (isListType(type)) return { kind: "LIST", ofType: typeRef(type.ofType) };
  return isLeafType(type)
    ? ANY
    : { kind: isObjectType(type) ? "OBJECT" : isUnionType(type) ? "UNION" : "INTERFACE", name: type.name };
}

/** The types that selections are made on, with their possible types, and the names of selected fields. */
function asked(schema, documents) {
  const types = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const fields = new Set();
  const info = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(info, {
    Field: ({ name }) => void fields.add(name.value),
    SelectionSet() {
      const type = info.getParentType();
      types.add(type);
      if (isAbstractType(type)) for (const possible of schema.getPossibleTypes(type)) types.add(possible);
    },
  });
  for (const { document } of documents) visit(document, visitor);
  return { types, fields };
}

function described(schema, type, selected) {
  const named = (types) => types.map(({ name }) => ({ kind: "OBJECT", name }));
  if (isUnionType(type)) return { kind: "UNION", name: type.name, possibleTypes: named(type.getTypes()) };
  const asked = Object.values(type.getFields()).filter(({ name }) => selected.has(name));
  const fields = asked.map((field) => ({ name: field.name, type: typeRef(field.type), args: [] }));
  if (isInterfaceType(type)) {
    return {
      kind: "INTERFACE",
      name: type.name,
      fields,
      interfaces: [],
      possibleTypes: named(schema.getPossibleTypes(type)),
    };
  }
  const interfaces = type.getInterfaces().map(({ name }) => ({ kind: "INTERFACE", name }));
  return { kind: "OBJECT", name: type.name, fields, interfaces };
}

module.exports.plugin = (schema, documents) => {
  const { types: wanted, fields } = asked(schema, documents);
  const types = Object.values(schema.getTypeMap())
    .filter((type) => wanted.has(type))
    .map((type) => described(schema, type, fields));
  const root = (type) => (type ? { name: type.name } : null);
  const told = {
    queryType: root(schema.getQueryType()),
    mutationType: root(schema.getMutationType()),
    subscriptionType: root(schema.getSubscriptionType()),
    types: [...types, ANY],
  };
  const keyless = types.filter(
    ({ kind, name, fields }) =>
      kind === "OBJECT" &&
      !["Query", "Mutation", "Subscription"].includes(name) &&
      !fields.some((field) => field.name === "id"),
  );
  return [
    "// Written by `npm run codegen`.",
    `export const SCHEMA_JSON = ${JSON.stringify(JSON.stringify({ __schema: told }))};`,
    `export const TYPES_WITHOUT_ID: readonly string[] = ${JSON.stringify(keyless.map(({ name }) => name))};`,
    "",
  ].join("\n");
};
