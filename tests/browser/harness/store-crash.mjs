// Closes tabs in the middle of saves to a store of snapshots, and lets its storage get full.
import { launch } from "./chromium.mjs";

/** Milliseconds from the start of a save to the end of its tab. */
const DELAYS_MS = [20, 60, 100, 150, 200, 300, 500];
/** Bytes that the origin may store. */
const QUOTA_BYTES = 40e6;

/** Where versions are stored, and whether a worker calls the store: only workers have synchronous access handles. */
const places = [
  { backend: "opfs", isWorker: false },
  { backend: "opfs", isWorker: true },
  { backend: "indexeddb", isWorker: false },
];

/** Opens a page in which `globalThis.call` calls a function of the suite. */
async function open(context, url, isWorker) {
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(url);
  await page.evaluate(async (inWorker) => {
    const file = "/tests/browser/suite/store-crash.js";
    if (!inWorker) {
      const suite = await import(file);
      globalThis.call = (name, ...args) => suite[name](...args);
      return;
    }
    const worker = new Worker(file, { type: "module" });
    globalThis.call = (...call) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.value));
        worker.postMessage(call);
      });
  }, isWorker);
  return page;
}

/**
 * Closes the tab during `nCloses` saves at each place, and checks from another tab that every version with a name is whole.
 * Returns the number of versions that were saved.
 */
export async function closeTabs(url, nCloses) {
  const browser = await launch("none");
  let saved = 0;
  try {
    for (const { backend, isWorker } of places) {
      const context = await browser.newContext();
      for (let n = 0; n < nCloses; n += 1) {
        const page = await open(context, url, isWorker);
        await page.evaluate(([to]) => globalThis.call("save", to, 1), [backend]);
        const saving = page.evaluate(([to]) => globalThis.call("save", to, 2), [backend]).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, DELAYS_MS[n % DELAYS_MS.length]));
        await page.close();
        await saving;
        const other = await open(context, url, isWorker);
        const versions = await other.evaluate(([at]) => globalThis.call("verify", at), [backend]);
        if (versions < 1) throw new Error(`${backend}, closed after ${DELAYS_MS[n % DELAYS_MS.length]} ms: the version before is lost`);
        saved += versions;
        await other.close();
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return saved;
}

/** Saves from two tabs at once, of which one collects what the other has not named yet, and checks all versions. */
export async function saveFromTwoTabs(url) {
  const browser = await launch("none");
  try {
    for (const { backend, isWorker } of places) {
      const context = await browser.newContext();
      const tabs = [await open(context, url, isWorker), await open(context, url, isWorker)];
      const save = (tab, seed) => tab.evaluate(([to, of]) => globalThis.call("save", to, of), [backend, seed]);
      for (const round of [1, 2, 3]) await Promise.all(tabs.map((tab, i) => save(tab, 2 * round + i)));
      const versions = await tabs[0].evaluate(([at]) => globalThis.call("verify", at), [backend]);
      if (versions !== 6) throw new Error(`${backend}: ${versions} of 6 versions`);
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

/** Fills the storage of an origin at each place, and returns the messages of the errors. */
export async function fillStorage(url) {
  const browser = await launch("none");
  const messages = [];
  try {
    for (const { backend, isWorker } of places) {
      const context = await browser.newContext();
      const page = await open(context, url, isWorker);
      const session = await context.newCDPSession(page);
      await session.send("Storage.overrideQuotaForOrigin", { origin: new URL(url).origin, quotaSize: QUOTA_BYTES });
      const error = await page.evaluate(([to]) => globalThis.call("fill", to), [backend]);
      if (error.code !== "STORAGE_FULL" || !error.isOwn || error.versions < 1) throw new Error(`${backend}: ${JSON.stringify(error)}`);
      messages.push(`${backend}${isWorker ? " in a worker" : ""}: ${error.message}`);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return messages;
}
