// The areas of the catalog: what packs work with, and what pipelines make.

import {
  AudioLines,
  BadgeCheck,
  Bot,
  Boxes,
  Brain,
  Clapperboard,
  Code,
  FileText,
  FolderGit2,
  GitPullRequest,
  Globe,
  GraduationCap,
  Image,
  type LucideIcon,
  Mail,
  Newspaper,
  Plug,
  Presentation,
  Search,
  Telescope,
} from "lucide-react";

import { humanise } from "../../lib/text/format.ts";

export interface Area {
  key: string;
  word: string;
  Icon: LucideIcon;
}

/** In the order of the catalog, by the first part of a pack's name; packs of other areas follow. */
const KNOWN: readonly Area[] = [
  { key: "slides", word: "Slides", Icon: Presentation },
  { key: "doc", word: "Documents", Icon: FileText },
  { key: "blog", word: "Blog posts", Icon: Newspaper },
  { key: "podcast", word: "Podcasts", Icon: AudioLines },
  { key: "video", word: "Video", Icon: Clapperboard },
  { key: "image", word: "Pictures", Icon: Image },
  { key: "research", word: "Research", Icon: Telescope },
  { key: "content", word: "Fact checking", Icon: BadgeCheck },
  { key: "web", word: "Web pages", Icon: Globe },
  { key: "repo", word: "Repositories", Icon: FolderGit2 },
  { key: "swe", word: "Programming", Icon: Code },
  { key: "github", word: "GitHub", Icon: GitPullRequest },
  { key: "agents", word: "Agents", Icon: Bot },
  { key: "email", word: "Email", Icon: Mail },
  { key: "http", word: "HTTP", Icon: Plug },
  { key: "catalog", word: "Catalog", Icon: Search },
  { key: "memory", word: "Memory", Icon: Brain },
];
const PRACTICE: Area = { key: "practice", word: "Practice", Icon: GraduationCap };

interface Entry {
  id: string;
  metadata: { practice: boolean };
  /** The steps of a pipeline. */
  steps?: readonly object[];
}

/** The area of a pack is in its name; that of a pipeline is the one of its last step, which makes its result. */
export function areaOf({ id, metadata, steps }: Entry): Area {
  if (metadata.practice) return PRACTICE;
  const last = steps?.at(-1);
  const made =
    last !== undefined && "packName" in last && typeof last.packName === "string" ? last.packName : "agents.";
  const name = steps === undefined ? id : made;
  const key = name.includes(".") ? name.slice(0, name.indexOf(".")) : "other";
  return (
    KNOWN.find((area) => area.key === key) ?? { key, word: key === "other" ? "Other" : humanise(key), Icon: Boxes }
  );
}

/** Entries by area, in the order of the areas. */
export function byArea<Of extends Entry>(entries: readonly Of[]): { area: Area; entries: Of[] }[] {
  const found = new Map<string, { area: Area; entries: Of[] }>();
  for (const entry of entries) {
    const area = areaOf(entry);
    const group = found.get(area.key);
    if (group === undefined) found.set(area.key, { area, entries: [entry] });
    else group.entries.push(entry);
  }
  return [...found.values()].sort((one, other) => placeOf(one.area) - placeOf(other.area));
}

function placeOf({ key }: Area): number {
  if (key === PRACTICE.key) return KNOWN.length + 1;
  const place = KNOWN.findIndex((area) => area.key === key);
  return place === -1 ? KNOWN.length : place;
}
