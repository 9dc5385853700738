// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { type ReactNode, useState } from "react";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { Content } from "./Content.tsx";
import type { Artifact } from "./media.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const ADDRESS = "/artifacts/artifact_1?signature=x";

function aFile(name: string, mediaType: string): Artifact {
  return {
    id: "artifact_1",
    name,
    mediaType,
    sizeBytes: 1000,
    createdAt: "2026-11-01T00:00:00Z",
    expiresAt: null,
    pinned: false,
    status: "STORED",
    digest: "sha256:0",
    downloadUrl: ADDRESS,
    previewUrl: null,
    previewKind: null,
    previewProblem: null,
    pageCount: null,
    width: null,
    height: null,
    durationSeconds: null,
    run: null,
    producedBy: null,
    verifiedBy: null,
  };
}

/** Shows a part with a file whose element reports an error, while the server answers its address so. */
async function refused(part: ReactNode, answer: () => Promise<Response>, code = 4): Promise<void> {
  vi.stubGlobal("fetch", vi.fn(answer));
  vi.stubGlobal("MediaError", { MEDIA_ERR_NETWORK: 2 });
  await show(part);
  const element = document.querySelector("img, video, audio");
  if (element === null) throw new Error("nothing shows the file");
  Object.defineProperty(element, "error", { value: { code } });
  fireEvent.error(element);
}

const KINDS = [aFile("cup.png", "image/png"), aFile("tea.mp4", "video/mp4"), aFile("tea.wav", "audio/wav")];

test.each(KINDS)("$name that the server sends is damaged when the browser does not take it", async (file) => {
  await refused(<Content artifact={file} search={{}} />, async () => new Response("not what it says"));
  expect(await screen.findByRole("status")).toHaveTextContent(
    `${file.name} cannot be shown.It is damaged, or in a format that this browser does not know.`,
  );
});

test.each(KINDS)("$name says why the server refuses it, once", async (file) => {
  await refused(
    <Content artifact={file} search={{}} />,
    async () => new Response("This address has expired. Request a new one.\n", { status: 403 }),
  );
  const said = await screen.findByText("This address has expired. Request a new one.");
  expect(said.parentElement).not.toHaveTextContent("cannot be shown");
  expect(said.parentElement).not.toHaveTextContent("damaged");
});

test.each(KINDS)("$name is tried again after the server was away", async (file) => {
  await refused(<Content artifact={file} search={{}} />, async () => {
    throw new TypeError("Failed to fetch");
  });
  expect(await screen.findByText("The server could not be reached.")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(document.querySelector("img, video, audio")).toHaveAttribute("src", ADDRESS);
});

test("a film whose connection broke off is not damaged, although the server is back", async () => {
  const film = aFile("tea.mp4", "video/mp4");
  await refused(<Content artifact={film} search={{}} />, async () => new Response("a part of it"), 2);
  expect(await screen.findByText("The server could not be reached.")).toBeVisible();
});

test("the next film is played although the one before could not be", async () => {
  const [first, next] = [aFile("one.mp4", "video/mp4"), { ...aFile("two.mp4", "video/mp4"), downloadUrl: "/two" }];
  function Both(): ReactNode {
    const [file, setFile] = useState(first);
    return (
      <>
        <button onClick={() => setFile(next)}>Next</button>
        <Content artifact={file} search={{}} />
      </>
    );
  }
  await refused(<Both />, async () => new Response("no film"));
  await screen.findByText("one.mp4 cannot be shown.");
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(document.querySelector("video")).toHaveAttribute("src", "/two");
});

test.each([
  ["a.csv", "text/csv", 'name\n"Ada', null, "A quotation mark is never closed, so this is shown as text."],
  [
    "a.csv",
    "text/csv",
    'name\n"Ada',
    10,
    "The part that is shown ends within quotation marks, so this is shown as text.",
  ],
  ["a.csv", "text/csv", ",".repeat(100), null, "A row has more than 100 columns, so this is shown as text."],
  ["a.json", "application/json", '{"name":', null, "The file is no valid JSON, so this is shown as text."],
])("%s of the type %s that cannot be read as such says why it is text", async (name, type, text, nextOffset, why) => {
  await show(<Content artifact={aFile(name, type)} search={{}} />, {
    ArtifactText: { artifactText: { text, nextOffset } },
  });
  expect(await screen.findByText(why)).toBeVisible();
  expect(screen.getByRole("region", { name })).toHaveTextContent(text.replace("\n", " "));
});
