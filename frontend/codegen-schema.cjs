// Writes what graphcache needs of the schema: names, kinds, possible types, and which fields may be null.
const { isInterfaceType, isNonNullType, isObjectType, isListType, isUnionType, isLeafType } = require("graphql");

const ANY = { kind: "SCALAR", name: "Any" };

function typeRef(type) {
  if (isNonNullType(type)) return { kind: "NON_NULL", ofType: typeRef(type.ofType) };
  if (isListType(type)) return { kind: "LIST", ofType: typeRef(type.ofType) };
  return isLeafType(type) ? ANY : { kind: isObjectType(type) ? "OBJECT" : isUnionType(type) ? "UNION" : "INTERFACE", name: type.name };
}

function described(schema, type) {
  const named = (types) => types.map(({ name }) => ({ kind: "OBJECT", name }));
  if (isUnionType(type)) return { kind: "UNION", name: type.name, possibleTypes: named(type.getTypes()) };
  const fields = Object.values(type.getFields()).map((field) => ({ name: field.name, type: typeRef(field.type), args: [] }));
  if (isInterfaceType(type)) {
    return { kind: "INTERFACE", name: type.name, fields, interfaces: [], possibleTypes: named(schema.getPossibleTypes(type)) };
  }
  const interfaces = type.getInterfaces().map(({ name }) => ({ kind: "INTERFACE", name }));
  return { kind: "OBJECT", name: type.name, fields, interfaces };
}

module.exports.plugin = (schema) => {
  const types = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith("__") && (isObjectType(type) || isInterfaceType(type) || isUnionType(type)))
    .map((type) => described(schema, type));
  const root = (type) => (type ? { name: type.name } : null);
  const told = {
    queryType: root(schema.getQueryType()),
    mutationType: root(schema.getMutationType()),
    subscriptionType: root(schema.getSubscriptionType()),
    types: [...types, ANY],
  };
  const keyless = types.filter(({ kind, name, fields }) =>
    kind === "OBJECT" && !["Query", "Mutation", "Subscription"].includes(name) && !fields.some((field) => field.name === "id"));
  return [
    "// Written by `npm run codegen`.",
    `export const SCHEMA_JSON = ${JSON.stringify(JSON.stringify({ __schema: told }))};`,
    `export const TYPES_WITHOUT_ID: readonly string[] = ${JSON.stringify(keyless.map(({ name }) => name))};`,
    "",
  ].join("\n");
};
