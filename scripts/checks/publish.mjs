// Runs the dry runs of publishing both packages. Warnings are failures.
import { existsSync } from "node:fs";
import path from "node:path";
import { Remedy, ask, exitWith, root } from "../process.mjs";
import { must } from "./must.mjs";

/** Expected warnings. */
const known = [
  // Tests need files that are not published.
  /ignoring (test|example|bench) .* is not included in the published package/,
  // The dry run works without a login.
  /requires you to be logged in/,
  // npm's configuration on this machine.
  /Unknown (user|env|global|builtin) config/,
];

await exitWith(async () => {
  const { packages } = JSON.parse(ask("cargo", ["metadata", "--no-deps", "--format-version", "1"]));
  const names = packages.filter(({ publish }) => publish === null || publish.length > 0).map(({ name }) => name);
  const cargo = await must("cargo", ["package", "--allow-dirty", ...names.flatMap((name) => ["--package", name])]);
  if (!existsSync(path.join(root, "dist", "index.js"))) throw new Remedy("dist/ is missing: npm run build");
  const npm = await must("npm", ["publish", "--dry-run", "--ignore-scripts"]);
  const warnings = `${cargo}\n${npm}`.match(/^(warning|npm warn).*/gim) ?? [];
  const ours = warnings.filter((line) => !known.some((pattern) => pattern.test(line)));
  if (ours.length > 0) throw new Remedy(`not clean:\n${ours.join("\n")}`);
});
