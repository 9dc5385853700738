/** Whether a text has all the words somebody typed, each at least as the beginning of a word. */
export function matches(text: string, typed: string): boolean {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((wanted) => words.some((word) => word.startsWith(wanted)));
}
