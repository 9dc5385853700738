// Where a request to the ask box is kept, so that it can be returned to.

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** A request too long for the address. */
    ask?: string;
  }
}

/** An address that is much longer is cut by what it is sent through. */
const LONGEST_IN_ADDRESS = 500;

/** The request in the address of the ask box, or a long one in the entry of the browser's history. */
export function askPlace(request: string): { search: { ask?: string }; state: { ask?: string } } {
  if (request === "") return { search: {}, state: {} };
  return request.length > LONGEST_IN_ADDRESS
    ? { search: {}, state: { ask: request } }
    : { search: { ask: request }, state: {} };
}
