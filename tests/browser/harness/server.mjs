// A static file server on the loopback interface.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const types = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".wgsl": "text/plain; charset=utf-8",
};

/** The bytes of a file that a request asks for, as `{ start, end }`; null for all of them. */
function rangeOf(request, size) {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  return start === undefined ? null : { start: Number(start), end: Math.min(Number(end), size - 1) };
}

/** Answers with what was put before, with ranges unless the query is `whole`. */
async function answerFromMemory(memory, request, response) {
  const { pathname, search } = new URL(request.url, "http://localhost");
  if (request.method === "PUT") {
    const parts = [];
    for await (const part of request) parts.push(part);
    memory.set(pathname, Buffer.concat(parts));
    response.writeHead(204).end();
    return;
  }
  const bytes = memory.get(pathname);
  if (!bytes) return void response.writeHead(404).end();
  const range = search === "?whole" ? null : rangeOf(request, bytes.length);
  const etag = `"${bytes.length}"`;
  if (!range) return void response.writeHead(200, { etag, "content-length": bytes.length }).end(bytes);
  if (range.start > range.end) return void response.writeHead(416, { etag }).end();
  const total = search === "?secret" ? {} : { "content-range": `bytes ${range.start}-${range.end}/${bytes.length}` };
  response.writeHead(206, { etag, ...total }).end(bytes.subarray(range.start, range.end + 1));
}

/** Serves `folder` and gives `{ url, requests, close }`; `requests` lists the paths asked for. What is put under
 * `/memory/` is kept there. */
export async function serve(folder, headers = {}) {
  const requests = [];
  const memory = new Map();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    requests.push(pathname);
    if (pathname.startsWith("/memory/")) return answerFromMemory(memory, request, response);
    const path = normalize(join(folder, decodeURIComponent(pathname)));
    const file = path.endsWith(sep) ? join(path, "index.html") : path;
    const isInside = file.startsWith(normalize(folder + sep));
    const found = isInside && (await stat(file).catch(() => null))?.isFile();
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream", ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://localhost:${server.address().port}/`, requests, close };
}
