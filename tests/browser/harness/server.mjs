// A static file server on the loopback interface, which also serves byte ranges of bodies that tests upload. sirv serves the
// folder; the ranges are implemented here, because some responses must lack headers that a correct server sends.
import { createServer } from "node:http";
import sirv from "sirv";

/** Returns the range of bytes that a request names, as `{ start, end }` with `end` included, or null for a whole file. */
function rangeOf(request, size) {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  return start === undefined ? null : { start: Number(start), end: Math.min(Number(end), size - 1) };
}

/**
 * Stores the body of a PUT request and serves it to later requests, with support for ranges.
 *
 * The query `?whole` ignores ranges, and `?secret` omits `content-range`.
 */
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

/**
 * Serves `folder` with `headers` and resolves to `{ url, requests, close }`; `requests` lists the paths of all requests.
 *
 * Bodies that are PUT under `/memory/` are kept in memory and served from there.
 */
export async function serve(folder, headers = {}) {
  const requests = [];
  const memory = new Map();
  const setHeaders = (response) => Object.entries(headers).forEach(([name, value]) => response.setHeader(name, value));
  const answerFromFolder = sirv(folder, { dev: true, etag: true, setHeaders });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    requests.push(pathname);
    if (pathname.startsWith("/memory/")) void answerFromMemory(memory, request, response);
    else answerFromFolder(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://localhost:${server.address().port}/`, requests, close };
}
