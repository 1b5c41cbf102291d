// `npm start`: installs missing dependencies, builds the package and the page, and serves the page on localhost.
//
// `npm start -- --port 9000` chooses the port.
import { Remedy, exitWith, run } from "./process.mjs";
import { portOf, servePage } from "./serve.mjs";
import { setup } from "./setup.mjs";

await exitWith(async () => {
  const args = process.argv.slice(2);
  portOf(args);
  await setup();
  for (const script of [["scripts/build.mjs"], ["scripts/page.mjs"]]) {
    const { code } = await run("node", script);
    if (code !== 0) throw new Remedy(`node ${script.join(" ")} failed (exit code ${code}); its output is above`);
  }
  await servePage(args);
});
