// Runs `npm audit` on the dependencies of users, which leaves out development dependencies.
import { Remedy, Skip, exitWith, run } from "../process.mjs";

await exitWith(async () => {
  const { code, output } = await run("npm", ["audit", "--omit=dev"], { minutes: 5 });
  if (code === 0) return;
  if (/audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOAUDIT/i.test(output)) {
    throw new Skip("the advisories of `npm audit` cannot be downloaded");
  }
  throw new Remedy("`npm audit` found vulnerabilities; they are listed above");
});
