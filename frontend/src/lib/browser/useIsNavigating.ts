import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * Returns whether a navigation is in progress. Typed text goes into the address with a delay; during a navigation that
 * would cancel it.
 */
export function useIsNavigating(): () => boolean {
  const router = useRouter();
  return useCallback(() => {
    const shown = router.state.resolvedLocation;
    return shown !== undefined && shown.pathname !== router.latestLocation.pathname;
  }, [router]);
}
