// Keeps all files of the page, so that it opens without a network. The build fills in the two constants.
const cacheName = `pagepress-${__VERSION__}`;
const files = __FILES__;

// A newer worker waits until the pages of the older one are closed, since those ask for older files.
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

/** The page itself comes from the network where there is one; files have their content in their names. */
async function answer(request) {
  const cache = await caches.open(cacheName);
  if (request.mode === "navigate") return fetch(request).catch(() => cache.match("./"));
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(request));
});
