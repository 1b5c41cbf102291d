// Writes `sw.js`, the service worker that serves the page offline.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";

const template = new URL("../src/shell/offline-worker.js", import.meta.url);
const publicFolder = new URL("../public/", import.meta.url);

/**
 * Inserts the list of built files and a version into the service worker. The version is a hash of the file names, which
 * contain content hashes, and of the document. TensorFlow.js, which is used only for comparison, and the translator of CUDA C, which
 * is as large as all other modules, are not in the list.
 */
export function offline() {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const isCached = (file) => file !== "index.html" && !/^assets\/(tensorflow|cuda_bg)-/.test(file);
      const files = ["./", ...readdirSync(publicFolder), ...Object.keys(bundle)].filter(isCached);
      const page = bundle["index.html"]?.source ?? "";
      const version = createHash("sha256").update(files.join("\n")).update(page).digest("hex").slice(0, 12);
      const source = readFileSync(template, "utf8")
        .replace("__VERSION__", JSON.stringify(version))
        .replace("__FILES__", JSON.stringify(files));
      this.emitFile({ type: "asset", fileName: "sw.js", source });
    },
  };
}
