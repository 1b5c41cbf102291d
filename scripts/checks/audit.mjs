// `npm audit` of what users of the package install, which is the package alone.
import { Remedy, Skip, exitWith, run } from "../process.mjs";

await exitWith(async () => {
  const { code, output } = await run("npm", ["audit", "--omit=dev"], { minutes: 5 });
  if (code === 0) return;
  if (/audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOAUDIT/i.test(output)) {
    throw new Skip("the data of `npm audit` cannot be reached");
  }
  throw new Remedy("`npm audit` found something");
});
