import { Brain, Clock3, KeyRound, Lightbulb, ScrollText, Settings, Ticket } from "lucide-react";

/** The administration pages, most used first. */
export const ADMIN_PAGES = [
  { to: "/settings", word: "Settings", Icon: Settings },
  { to: "/triggers", word: "Triggers", Icon: Clock3 },
  { to: "/memory", word: "Memory", Icon: Brain },
  { to: "/proposals", word: "Proposals", Icon: Lightbulb },
  { to: "/credentials", word: "Credentials", Icon: KeyRound },
  { to: "/tokens", word: "Tokens", Icon: Ticket },
  { to: "/audit", word: "Audit", Icon: ScrollText },
] as const;
