// Tests frameworks with server-side rendering. Their fixtures are copied to the folder with their tools.
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../scripts/build/run.mjs";
import { installFixture, makeWorkplace } from "../install.mjs";
import { checkSite } from "../pages.mjs";

const fixtures = fileURLToPath(new URL("fixtures", import.meta.url));
const env = { ...process.env, NODE_ENV: "production", NUXT_TELEMETRY_DISABLED: "1" };

/** Returns a free port. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts the server that a framework built, with the Node at `node`, and waits until it responds. */
async function startServer(node, script, cwd) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const where = { HOST: "127.0.0.1", PORT: String(port), ORIGIN: url.slice(0, -1) };
  const child = spawn(node, [script], { cwd, env: { ...env, ...where }, stdio: ["ignore", "ignore", "inherit"] });
  for (let tries = 0; !(await fetch(url).catch(() => null)); tries += 1) {
    if (tries === 100 || child.exitCode !== null) throw new Error(`${script} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const close = async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, "exit");
  };
  return { url, close };
}

/** Builds the fixture `name` with `command`, run by `node`, starts its server, and checks the server and the pages. */
async function checkFramework(report, browsers, title, { tarball, tree, node, name, command, script }) {
  const { folder, remove } = await makeWorkplace(tree);
  let site;
  const open = () => {
    site ??= (async () => {
      const place = await installFixture(folder, name, tarball, "pagepress", fixtures);
      await run(node, [join(tree, "node_modules", command[0]), ...command.slice(1)], {
        cwd: place,
        env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      return { place, ...(await startServer(node, join(place, script), place)) };
    })();
    return site;
  };
  try {
    await report.run(`${title}, on the server`, async () => {
      const { url, place } = await open();
      // Below the request size limit of these servers.
      const body = (await readFile(join(place, "sample.txt"))).subarray(0, 100_000);
      const headers = { "content-type": "application/octet-stream" };
      const answer = await fetch(new URL("server", url), { method: "POST", body, headers });
      assert.deepEqual(await answer.json(), { engine: "cpu", isSame: true });
    });
    await checkSite(report, browsers, title, open, { scopes: ["window", "worker"] });
  } finally {
    await site?.then(({ close }) => close()).catch(() => undefined);
    await remove();
  }
}

export const checkSvelteKit = (report, browsers, tarball, { tree, node }) =>
  checkFramework(report, browsers, "SvelteKit", {
    tarball,
    tree,
    node,
    name: "sveltekit",
    command: ["vite/bin/vite.js", "build", "--logLevel", "error"],
    script: "build/index.js",
  });

export const checkNuxt = (report, browsers, tarball, { tree, node }) =>
  checkFramework(report, browsers, "Nuxt", {
    tarball,
    tree,
    node,
    name: "nuxt",
    command: ["nuxt/bin/nuxt.mjs", "build", "--logLevel=silent"],
    script: ".output/server/index.mjs",
  });
