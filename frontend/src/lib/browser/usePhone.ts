import { useSyncExternalStore } from "react";

/** The width below which the styles of `max-md:` apply. */
const PHONE = "(width < 48rem)";

/** Whether the page is as narrow as on a phone. */
export function usePhone(): boolean {
  return useSyncExternalStore(follow, () => matchMedia(PHONE).matches);
}

function follow(changed: () => void): () => void {
  const phone = matchMedia(PHONE);
  phone.addEventListener("change", changed);
  return () => phone.removeEventListener("change", changed);
}
