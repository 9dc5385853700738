// Text typed over a selection. Chromium copies the replaced text's look into style attributes,
// which the page's content policy refuses, each with an error in the console.

import { EditorView } from "@codemirror/view";

export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to } = view.state.selection.main;
    const text = event.data;
    if (
      event.inputType !== "insertText" ||
      text === null ||
      from === to ||
      view.composing ||
      view.state.readOnly ||
      view.state.selection.ranges.length > 1
    )
      return false;
    const insert = () =>
      view.state.update({
        changes: { from, to, insert: text },
        selection: { anchor: from + text.length },
        userEvent: "input.type",
        scrollIntoView: true,
      });
    // Runs the input handlers the browser's insertion would run, such as closing brackets.
    const handled = view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, text, insert));
    if (!handled) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});
