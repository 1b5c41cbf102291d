// A small static server on localhost for the built page and for tests.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Remedy, exitWith, root } from "./process.mjs";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".ts": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/** What the page may load: itself, and WebAssembly. Workers take their policy from this header. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The file in `folder` that a request path names, or null; never one outside. */
function fileOf(folder, requestPath) {
  let name;
  try {
    name = decodeURIComponent(requestPath);
  } catch {
    return null;
  }
  let file = path.join(folder, name);
  if (name.includes("\0") || (file !== folder && !file.startsWith(folder + path.sep))) return null;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) file = path.join(file, "index.html");
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : null;
}

function answer(folder, request, response) {
  const file = fileOf(folder, new URL(request.url, "http://localhost").pathname);
  if (file === null || !["GET", "HEAD"].includes(request.method)) {
    response.writeHead(file === null ? 404 : 405, { "content-type": "text/plain" });
    response.end(file === null ? "not found\n" : "only GET\n");
    return;
  }
  response.writeHead(200, {
    "cache-control": "no-cache",
    "content-length": statSync(file).size,
    "content-security-policy": contentSecurityPolicy,
    "content-type": types[path.extname(file)] ?? "application/octet-stream",
    "x-content-type-options": "nosniff",
  });
  if (request.method === "HEAD") response.end();
  else createReadStream(file).on("error", () => response.destroy()).pipe(response);
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server.address().port));
  });
}

/**
 * Serves `folder` on localhost and resolves to `{url, close}`.
 *
 * Takes `port`, or with `search` the first free one of the ten from there; 0 is any free one.
 */
export async function serve(folder, { port = 0, search = false } = {}) {
  const absolute = path.resolve(folder);
  for (let candidate = port; ; candidate += 1) {
    const server = createServer((request, response) => answer(absolute, request, response));
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

/** The number after `--port`, or null without that flag. */
export function portOf(args) {
  const at = args.indexOf("--port");
  if (at < 0) return null;
  const port = Number(args[at + 1]);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Remedy("--port takes a number from 0 to 65535");
  return port;
}

/** Serves the built page until the process is ended, and says where. */
export async function servePage(args) {
  const port = portOf(args);
  const { url } = await serve(path.join(root, "www", "dist"), { port: port ?? 8080, search: port === null });
  console.log(`\nPagepress is at ${url} (Ctrl-C ends it)`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await exitWith(() => servePage(process.argv.slice(2)));
}
