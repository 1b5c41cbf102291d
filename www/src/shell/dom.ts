// Helpers for the DOM.

/** Returns the element with this id. `index.html` and the scripts ship together, so it exists. */
export function element<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

export type Child = Node | string;

/** Creates an element with children and, unless it is empty, a class. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Creates a button that calls `act` when it is clicked. */
export function button(text: string, className: string, act: () => void): HTMLButtonElement {
  const made = make("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** Creates a code block with a button that copies it; `label` names the code for screen readers. */
export function copyable(code: string, label: string): HTMLElement {
  const copy = button("Copy", "copy", () => void copyText(code, copy));
  copy.ariaLabel = `Copy ${label}`;
  const pre = make("pre", "", make("code", "", code));
  // Scrollable areas must be focusable for keyboard users.
  pre.tabIndex = 0;
  pre.role = "region";
  pre.ariaLabel = label;
  return make("div", "copyable", pre, copy);
}

/** Copies `text` to the clipboard and shows the outcome on `button` for 1.5 s. */
export async function copyText(text: string, button: HTMLElement): Promise<void> {
  const label = button.dataset["text"] ?? button.textContent ?? "";
  button.dataset["text"] = label;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

/** Creates an alert with the code and the message of an error. */
export function failureCard({ code, message }: { code: string; message: string }): HTMLElement {
  const card = make("div", "failure", make("code", "", code), ` ${message}`);
  card.role = "alert";
  return card;
}

/** Creates a row of a table whose cells name their columns, for narrow screens, where the head is not shown. */
export function labelledRow(heads: string[], texts: string[]): HTMLTableRowElement {
  const cells = texts.map((text, i) => {
    const cell = make(i === 0 ? "th" : "td", "", text);
    cell.dataset["label"] = heads[i] ?? "";
    if (i === 0) (cell as HTMLTableCellElement).scope = "row";
    return cell;
  });
  return make("tr", "", ...cells);
}

/** Creates a button that opens the file dialog and calls `use` with the file chosen. */
export function fileButton(text: string, accept: string, use: (file: File) => void): HTMLElement {
  const input = make("input");
  input.type = "file";
  input.accept = accept;
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    input.value = "";
    if (file) use(file);
  });
  return make("label", "secondary button", text, input);
}
