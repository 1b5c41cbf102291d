import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { bundlerWasm } from "./build/bundler-wasm.js";
import { machines } from "./build/machines.js";
import { offline } from "./build/offline.js";
import { preview } from "./build/preview.js";
import { snippets } from "./build/snippets.js";
import { wat } from "./build/wat.js";

const at = (path) => new URL(path, import.meta.url);
const { version } = JSON.parse(readFileSync(at("../package.json"), "utf8"));

export default defineConfig({
  base: "./",
  define: {
    __VERSION__: JSON.stringify(version),
    __SNIPPETS__: JSON.stringify(snippets(at("../README.md"))),
    __MACHINES__: JSON.stringify(machines(at("../benches/results/"))),
  },
  plugins: [preview(at("../docs/page-compress.webp")), offline()],
  build: {
    target: "es2022",
    // The first versions that support light-dark().
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Files, not data URLs or inline scripts: the page has a strict content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: {
    format: "es",
    plugins: () => [bundlerWasm(), wat()],
    // A name of their own for the parts of TensorFlow.js, which are loaded only on request and not cached for offline use.
    rolldownOptions: {
      output: {
        chunkFileNames: ({ moduleIds }) =>
          moduleIds.some((id) => id.includes("/@tensorflow/")) ? "assets/tensorflow-[hash].js" : "assets/[name]-[hash].js",
      },
    },
  },
});
