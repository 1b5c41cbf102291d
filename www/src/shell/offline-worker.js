// A service worker that caches all files of the page, so that it works offline. The build inserts the two constants.
const cacheName = `pagepress-${__VERSION__}`;
const files = __FILES__;

// No skipWaiting: open pages of an older version still request its files.
self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(cacheName).then((cache) => cache.addAll(files)),
  );
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("pagepress-") && name !== cacheName;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

/** Serves the document from the network if possible, and files from the cache: their names contain content hashes. */
async function answer(request) {
  const cache = await caches.open(cacheName);
  if (request.mode === "navigate") return fetch(request).catch(() => cache.match("./"));
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(request));
});
