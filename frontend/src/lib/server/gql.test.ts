import { createRequest, stringifyDocument } from "@urql/core";
import { expect, test } from "vitest";

import { gql } from "./gql.ts";

test("a document is parsed when it is used, and no sooner", () => {
  const broken = gql`
    query {
  `;
  expect(broken.kind).toBe("Document");
  expect(() => broken.definitions).toThrow("Unexpected");
});

test("a fragment to which two ways lead is sent once", () => {
  const leaf = gql`
    fragment Leaf on Run {
      id
    }
  `;
  const branch = gql`
    fragment Branch on Run {
      ...Leaf
    }
    ${leaf}
  `;
  const tree = gql`
    query Tree {
      run {
        ...Branch
        ...Leaf
      }
    }
    ${branch}
    ${leaf}
  `;
  const sent = stringifyDocument(createRequest(tree, {}).query);
  expect(sent.match(/^(query|fragment) \w+/gm)).toEqual(["query Tree", "fragment Branch", "fragment Leaf"]);
  expect(tree.definitions).toBe(tree.definitions);
});
