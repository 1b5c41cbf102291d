// The examples of docs/snapshots.md, which the tests run.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { root } from "../../scripts/build/run.mjs";

/** Writes each example of the guide that names a file to that file in `place`. Returns the names. */
export async function writeExamples(place) {
  const guide = await readFile(join(root, "docs/snapshots.md"), "utf8");
  const examples = [...guide.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm)].map(([, name, code]) => ({ name, code }));
  for (const { name, code } of examples) {
    await mkdir(dirname(join(place, name)), { recursive: true });
    await writeFile(join(place, name), code);
  }
  return examples.map(({ name }) => name);
}
