// Registers the service worker that serves the page offline.

/** Registers the service worker one second after the page has loaded, so that caching does not delay the page. */
export function keepOffline(): void {
  if (!("serviceWorker" in navigator)) return;
  const register = (): void => void navigator.serviceWorker.register("./sw.js").catch(() => undefined);
  window.addEventListener("load", () => setTimeout(register, 1000), { once: true });
}
