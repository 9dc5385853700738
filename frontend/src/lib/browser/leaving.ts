import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";

/**
 * Tells whether the page is on its way to another address. What is typed goes into the address a little later; done then,
 * it would call back whoever has pressed a link meanwhile and waits for the other page's script.
 */
export function useLeaving(): () => boolean {
  const router = useRouter();
  return useCallback(() => {
    const shown = router.state.resolvedLocation;
    return shown !== undefined && shown.pathname !== router.latestLocation.pathname;
  }, [router]);
}
