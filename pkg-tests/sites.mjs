// Serves pages with the package, without a bundler and built by each bundler. A site is `{ url, requests, close }`.
import { cp, mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { root, run } from "../scripts/build/run.mjs";
import { serve } from "../tests/browser/harness/server.mjs";

/** The content security policy that suffices according to docs/npm.md. */
export const strictPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
const headers = { "content-security-policy": strictPolicy };

/** Serves a folder. */
export const servePlain = (place) => serve(place);

/** Serves a folder under the strict policy. */
export const serveStrict = (place) => serve(place, headers);

/** Creates the output folder of a bundler, with the files that the bundler does not write. */
async function makeOut(place) {
  const out = join(place, "built");
  await mkdir(out, { recursive: true });
  for (const file of ["index.html", "sample.txt"]) await cp(join(place, file), join(out, file));
  return out;
}

/** Starts the development server of Vite; `vite` is the package to import. */
export async function startVite(place, vite = "vite") {
  const { createServer } = await import(vite);
  const server = await createServer({
    root: place,
    logLevel: "error",
    configFile: false,
    server: { host: "127.0.0.1", port: 0, hmr: false, ws: false },
  });
  await server.listen();
  const { port } = server.httpServer.address();
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** Builds with Vite and serves the result, by default under the strict policy; `command` is the script of Vite. */
export async function buildWithVite(place, command = join(root, "node_modules/vite/bin/vite.js"), sent = headers) {
  const out = join(place, "built");
  await mkdir(out, { recursive: true });
  const args = ["build", place, "--outDir", out, "--base", "./", "--logLevel", "error"];
  await run(process.execPath, [command, ...args], { cwd: place });
  return serve(out, sent);
}

export async function buildWithWebpack(place) {
  const { default: webpack } = await import("webpack");
  const out = await makeOut(place);
  const config = {
    mode: "production",
    context: place,
    entry: { page: "./page.js" },
    // Names without hashes, so that the test recognises the modules.
    output: { path: out, filename: "[name].js", assetModuleFilename: "[name][ext]", publicPath: "auto" },
    performance: { hints: false },
  };
  await new Promise((resolve, reject) => {
    webpack(config, (error, stats) => {
      if (error) reject(error);
      else if (stats.hasErrors() || stats.hasWarnings()) reject(new Error(stats.toString("errors-warnings")));
      else resolve();
    });
  });
  return serve(out, headers);
}

/** Builds with Rollup, which does not process URLs: the modules are copied, and the worker of the pool is an entry. */
export async function buildWithRollup(place) {
  const { rollup } = await import("rollup");
  const out = await makeOut(place);
  const dist = join(place, "node_modules/pagepress/dist");
  const fileOf = (id) => join(dist, id === "pagepress" ? "index.js" : `${id.slice("pagepress/".length)}.js`);
  const resolve = { name: "resolve", resolveId: (id) => (/^pagepress(\/|$)/.test(id) ? fileOf(id) : null) };
  const own = ["page", "page-worker", "shared-worker", "entries-worker"].map((name) => [name, join(place, `${name}.js`)]);
  const input = { ...Object.fromEntries(own), worker: "pagepress/worker" };
  const bundle = await rollup({ input, plugins: [resolve] });
  await bundle.write({ dir: out });
  await bundle.close();
  for (const name of ["cpu", "cuda", "dictionary", "formats", "gpu", "seek", "snapshot"]) await cp(join(dist, `${name}_bg.wasm`), join(out, `${name}_bg.wasm`));
  return serve(out, headers);
}

export async function buildWithEsbuild(place) {
  const { build } = await import("esbuild");
  const out = await makeOut(place);
  const names = ["page", "page-worker", "shared-worker", "service-worker", "entries-worker"];
  const entryPoints = Object.fromEntries(names.map((name) => [name, join(place, `${name}.js`)]));
  entryPoints["pagepress-worker"] = "pagepress/worker";
  const options = { bundle: true, minify: true, format: "esm", logLevel: "warning" };
  await build({ absWorkingDir: place, entryPoints, outdir: out, ...options });
  // Modules that are not in `pagepress/inline` are looked for beside the bundle.
  for (const name of ["cuda", "dictionary", "formats", "snapshot"]) await cp(join(place, `node_modules/pagepress/dist/${name}_bg.wasm`), join(out, `${name}_bg.wasm`));
  return serve(out, headers);
}

/** Builds with esbuild, which does not copy the module: it is copied here, and the page configures its URL. */
export async function buildTensorsWithEsbuild(place) {
  const { build } = await import("esbuild");
  const out = join(place, "built-by-esbuild");
  await mkdir(out, { recursive: true });
  await cp(join(place, "index.html"), join(out, "index.html"));
  await cp(join(place, "node_modules/pagepress/dist/tensor_bg.wasm"), join(out, "tensor_bg.wasm"));
  const options = { bundle: true, minify: true, format: "esm", logLevel: "warning" };
  await build({ absWorkingDir: place, entryPoints: [join(place, "page.js")], outdir: out, ...options });
  return serve(out, headers);
}

/** Builds with Next.js and starts its own server, which pre-renders pages. */
export async function buildWithNext(place) {
  const cli = join(root, "node_modules/next/dist/bin/next");
  const env = { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" };
  await run(process.execPath, [cli, "build"], { cwd: place, env, stdio: ["ignore", "ignore", "inherit"] });
  const { default: next } = await import("next");
  const app = next({ dir: place });
  await app.prepare();
  const handle = app.getRequestHandler();
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    void handle(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await app.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, requests, close };
}
