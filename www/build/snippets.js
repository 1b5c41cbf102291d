// The code that the page offers to copy is that of the README, whose code the tests of the package run.
import { readFileSync } from "node:fs";

/** The first JavaScript and the first Rust of a README. */
export function snippets(file) {
  const text = readFileSync(file, "utf8");
  const first = (language) => {
    const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\`\`\`$`, "m").exec(text)?.[1];
    if (!found) throw new Error(`the README has no ${language}`);
    return found.trimEnd();
  };
  return { npm: first("js"), rust: first("rust") };
}
