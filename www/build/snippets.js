// Extracts code samples from the README for the page. Tests of the package run them.
import { readFileSync } from "node:fs";

/** Returns the first JavaScript and the first Rust code block of the README `file`. */
export function snippets(file) {
  const text = readFileSync(file, "utf8");
  const first = (language) => {
    const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\`\`\`$`, "m").exec(text)?.[1];
    if (!found) throw new Error(`the README has no ${language}`);
    return found.trimEnd();
  };
  return { npm: first("js"), rust: first("rust") };
}
