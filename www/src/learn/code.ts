// Shows the code samples of the README.
import { copyable, element } from "../shell/dom";

declare const __SNIPPETS__: { npm: string; rust: string };

export function initCode(): void {
  element("code-npm").replaceChildren(copyable("npm install pagepress", "the command for npm"), copyable(__SNIPPETS__.npm, "code for npm"));
  element("code-rust").replaceChildren(copyable("cargo add pagepress", "the command for Rust"), copyable(__SNIPPETS__.rust, "code for Rust"));
}
