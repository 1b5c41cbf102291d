// Checks the types of the demo page and builds it from `www` to `www/dist`. Needs the package in `dist`.
import path from "node:path";
import { Remedy, exitWith, root, run } from "./process.mjs";

await exitWith(async () => {
  const bin = (name) => path.join(root, "node_modules", ".bin", name);
  const commands = [
    [bin("tsc"), ["--project", "www/tsconfig.json"]],
    [bin("vite"), ["build", "www"]],
  ];
  for (const [program, args] of commands) {
    const { code } = await run(program, args);
    if (code !== 0) throw new Remedy(`The page does not build: ${path.basename(program)} failed`);
  }
});
