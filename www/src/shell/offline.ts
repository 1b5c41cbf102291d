// The service worker that keeps the page when there is no network.

/** Registers it once the page has nothing better to do. */
export function keepOffline(): void {
  if (!("serviceWorker" in navigator)) return;
  const register = (): void => void navigator.serviceWorker.register("./sw.js").catch(() => undefined);
  window.addEventListener("load", () => setTimeout(register, 1000), { once: true });
}
