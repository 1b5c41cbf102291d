// Checks the paths that documents name: those of ARCHITECTURE.md and the decisions exist, every relative link leads to a file,
// the links of a README that is published lead to files that are published with it, and the test suites that the workflow
// names exist.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { ask, exitWith, Remedy, root } from "../process.mjs";

const text = (file) => readFileSync(path.join(root, file), "utf8");
const tracked = ask("git", ["ls-files", "--cached", "--others", "--exclude-standard"]).split("\n");

/** The files and folders at the top of the repository: a name in code that starts with one is a path. */
const tops = new Set(tracked.map((file) => file.split("/")[0]));

/** A pattern such as `docs/*.md` or `/shaders/**` as a regular expression of whole paths; a folder stands for all in it. */
function expression(pattern) {
  const source = pattern.replace(/^\//, "").replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*\*\/?|\*/g, (star) => (star === "*" ? "[^/]*" : ".*"));
  return new RegExp(`^${source}(/|$)`);
}

const isListed = (patterns, file) => patterns.some((pattern) => expression(pattern).test(file));

/** Paths in code spans: `src/gpu/wgpu/spirv/mod.rs`, `wgsl-ptx/tests/out/`. Patterns must match a file. */
function namedPaths(markdown) {
  const spans = [...markdown.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span);
  return spans.filter((span) => /^[\w.*/-]+$/.test(span) && /[/.]/.test(span) && tops.has(span.split("/")[0]));
}

/** Targets of relative links, without a place inside the file. */
function links(markdown) {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target.split("#")[0]);
  return targets.filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}

/** Returns the patterns of the files that the crate in `folder` contains, as paths of the repository. */
function filesOfCrate(folder) {
  const list = /^include = (\[.*\])$/m.exec(text(path.join(folder, "Cargo.toml")))?.[1] ?? "[]";
  return JSON.parse(list).map((pattern) => path.posix.join(folder, pattern));
}

/** Documents that are published beside the README, per package. */
const published = [
  { package: "npm package", files: JSON.parse(text("package.json")).files },
  { package: "crate pagepress", files: filesOfCrate(".") },
  { package: "crate pagepress-cli", files: filesOfCrate("cli") },
  { package: "crate cuda-c", files: filesOfCrate("cuda-c") },
  { package: "crate wgsl-ptx", files: filesOfCrate("wgsl-ptx") },
];

await exitWith(async () => {
  const faults = [];
  const documents = tracked.filter((file) => file.endsWith(".md") && existsSync(path.join(root, file)));
  let nPaths = 0;
  for (const file of documents) {
    for (const target of links(text(file))) {
      nPaths++;
      const found = path.join(path.dirname(file), target);
      if (!existsSync(path.join(root, found))) faults.push(`${file}: the link ${target} leads nowhere`);
    }
  }
  for (const file of documents.filter((name) => name === "ARCHITECTURE.md" || name.startsWith("docs/decisions/"))) {
    for (const named of namedPaths(text(file))) {
      nPaths++;
      const isThere = named.includes("*") ? tracked.some((one) => isListed([named], one)) : existsSync(path.join(root, named));
      if (!isThere) faults.push(`${file}: there is no ${named}`);
    }
  }
  for (const { package: name, files } of published) {
    const shipped = documents.filter((file) => isListed(files, file));
    for (const file of shipped) {
      for (const target of links(text(file))) {
        const found = path.join(path.dirname(file), target);
        if (!isListed(files, found)) faults.push(`${file}: the link ${target} leads to a file that the ${name} does not contain`);
      }
    }
  }
  for (const [, suite] of text(".github/workflows/ci.yml").matchAll(/--test ([\w-]+)/g)) {
    nPaths++;
    const isThere = [`tests/${suite}.rs`, `tests/${suite}/main.rs`].some((file) => tracked.includes(file));
    if (!isThere) faults.push(`.github/workflows/ci.yml: there is no test suite ${suite}`);
  }
  if (nPaths === 0) throw new Remedy("no document names a path: does the check still read them?");
  if (faults.length > 0) throw new Remedy(faults.join("\n"));
  console.log(`${documents.length} documents, ${nPaths} paths and links`);
});
