import { expect, it } from "vitest";

import { companions, fileInput, kindsOf } from "./media.ts";

it("knows which kinds of the catalog a file is", () => {
  expect(kindsOf("application/pdf")).toEqual(["pdf", "document"]);
  expect(kindsOf("application/octet-stream")).toEqual([]);
});

it("finds the captions and the transcript of a film among its siblings", () => {
  const film = { id: "1", name: "talk.mp4", mediaType: "video/mp4" };
  const captions = { id: "2", name: "talk.en.vtt", mediaType: "text/vtt" };
  const strange = { id: "3", name: "other.vtt", mediaType: "text/vtt" };
  const transcript = { id: "4", name: "transcript.md", mediaType: "text/markdown" };
  expect(companions(film, [film, strange, captions, transcript])).toEqual({ captions, transcript });
  expect(companions(film, [film, captions])).toEqual({ captions, transcript: captions });
  expect(companions(film, [film, strange, { ...strange, id: "5", name: "more.vtt" }])).toEqual({
    captions: null,
    transcript: null,
  });
});

it("finds the input that takes a file", () => {
  const text = { type: "string" };
  expect(fileInput({ properties: { title: text, source_artifact: text } })).toBe("source_artifact");
  expect(fileInput({ properties: { picture: { type: "string", description: "Id of a file, `art_…`." } } })).toBe(
    "picture",
  );
  expect(fileInput({ properties: { artifacts: { type: "array" }, title: text } })).toBeNull();
  expect(fileInput(true)).toBeNull();
});
