// Serves the built page on localhost, for visitors of `npm start` and for tests.
import { createServer } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Remedy, exitWith, root } from "./process.mjs";

/** The page may load its own files and compile WebAssembly. Workers take their policy from this header. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The worker that runs programs of the playground also compiles text. */
const isRunner = (pathname) => /\/playground-runner-[\w-]+\.js$/.test(pathname);
const policyOf = (pathname) => (isRunner(pathname) ? contentSecurityPolicy.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'") : contentSecurityPolicy);

/** Starts `server` on `port` of localhost and resolves to the port it got. */
function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server.address().port));
  });
}

/**
 * Serves `folder` on localhost and resolves to `{url, close}`.
 *
 * Listens on `port`, where 0 is any free one; with `search` on the first free port of the ten from `port`. Throws a
 * `Remedy` when none of them is free.
 */
export async function serve(folder, { port = 0, search = false } = {}) {
  // Imported here: `npm start` loads this file before it has installed the npm packages.
  const { default: sirv } = await import("sirv");
  const setHeaders = (response, pathname) => {
    response.setHeader("content-security-policy", policyOf(pathname));
    response.setHeader("x-content-type-options", "nosniff");
  };
  const answer = sirv(folder, { dev: true, etag: true, setHeaders });
  for (let candidate = port; ; candidate += 1) {
    const server = createServer((request, response) => answer(request, response));
    try {
      const bound = await listen(server, candidate);
      const close = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
      return { url: `http://localhost:${bound}/`, close };
    } catch (error) {
      const taken = error.code === "EADDRINUSE";
      if (taken && search && candidate < port + 9) continue;
      throw taken ? new Remedy(`Port ${candidate} is taken: choose another with --port N`) : error;
    }
  }
}

/** Returns the number after `--port`, or null without that flag. Throws a `Remedy` for anything but a port. */
export function portOf(args) {
  const at = args.indexOf("--port");
  if (at < 0) return null;
  const port = Number(args[at + 1]);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Remedy("--port takes a number from 0 to 65535");
  return port;
}

/** Serves the built page until the process ends, and prints its address. */
export async function servePage(args) {
  const port = portOf(args);
  const { url } = await serve(path.join(root, "www", "dist"), { port: port ?? 8080, search: port === null });
  console.log(`\nPagepress is at ${url} (Ctrl-C ends it)`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await exitWith(() => servePage(process.argv.slice(2)));
}
