// Keeps a reload, such as the one a new build asks for, from losing what was typed into a form.

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** What was in each field when it was first used. */
const found = new Map<Field, string>();

/** The addresses of pages keep searches and filters, and the editor its drafts: those are in no form. */
function asField(target: EventTarget | null): Field | null {
  const isField =
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !["search", "checkbox", "radio"].includes(target.type));
  return isField && target.closest("form, dialog") !== null ? target : null;
}

/** Whether a form has text that was typed and would be lost. */
function hasTyped(): boolean {
  for (const field of found.keys()) if (!field.isConnected) found.delete(field);
  return [...found].some(([field, value]) => field.value !== value);
}

/** Lets the browser ask before the page goes away with such text. */
export function guardTyped(): void {
  addEventListener("focusin", ({ target }) => {
    const field = asField(target);
    if (field !== null && !found.has(field)) found.set(field, field.value);
  });
  addEventListener("beforeunload", (event) => {
    if (hasTyped()) event.preventDefault();
  });
}
