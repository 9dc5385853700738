// The beginnings of texts.

/** At most the first `length` UTF-16 units, without half of a character that takes two, which the server refuses. */
export function startOf(text: string, length: number): string {
  return text.slice(0, length).replace(/\p{Surrogate}$/u, "");
}

/** A text, or its beginning with an ellipsis. */
export function excerpt(text: string, length: number): string {
  return text.length > length ? `${startOf(text, length)}…` : text;
}
