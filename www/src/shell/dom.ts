// Shorthands for the document.

/** The element of the page with this id; the page and this code ship together, so it is there. */
export function element<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

export type Child = Node | string;

/** A new element with a class, if any, and children. */
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

/** A button that does something. */
export function button(text: string, className: string, act: () => void): HTMLButtonElement {
  const made = make("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** Code with a button that copies it. */
export function copyable(code: string, label: string): HTMLElement {
  const copy = button("Copy", "copy", () => void copyText(code, copy));
  copy.ariaLabel = `Copy ${label}`;
  const pre = make("pre", "", make("code", "", code));
  // It scrolls, so it is reached by keyboard.
  pre.tabIndex = 0;
  pre.role = "region";
  pre.ariaLabel = label;
  return make("div", "copyable", pre, copy);
}

/** Copies a text and says so on the button for a moment. */
export async function copyText(text: string, said: HTMLElement): Promise<void> {
  const before = said.dataset["text"] ?? said.textContent ?? "";
  said.dataset["text"] = before;
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = "Copied";
  } catch {
    said.textContent = "Not allowed";
  }
  setTimeout(() => (said.textContent = before), 1500);
}

/** The card that says what went wrong. */
export function failureCard({ code, message }: { code: string; message: string }): HTMLElement {
  const card = make("div", "failure", make("code", "", code), ` ${message}`);
  card.role = "alert";
  return card;
}
