// Lets lz4-wasm be imported as its documentation says. Built for webpack, it imports its module as if that was
// JavaScript; Vite asks a plugin to do what webpack does by itself.
import { basename } from "node:path";
import { readFileSync } from "node:fs";

const suffix = "?as-javascript";

/** Makes of `import * as wasm from "./name.wasm"` a module that has what the WebAssembly exports. */
export function bundlerWasm() {
  return {
    name: "bundler-wasm",
    enforce: "pre",
    async resolveId(source, importer) {
      if (!source.endsWith(".wasm") || !importer?.includes("node_modules")) return null;
      const found = await this.resolve(source, importer, { skipSelf: true });
      return found && { id: `${found.id}${suffix}` };
    },
    async load(id) {
      if (!id.endsWith(suffix)) return null;
      const file = id.slice(0, -suffix.length);
      const module = await WebAssembly.compile(readFileSync(file));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      const imports = [...new Set(WebAssembly.Module.imports(module).map(({ module: from }) => from))];
      return [
        `import url from ${JSON.stringify(`${file}?url`)};`,
        ...imports.map((from, i) => `import * as from${i} from ${JSON.stringify(from)};`),
        `const imports = { ${imports.map((from, i) => `${JSON.stringify(from)}: from${i}`).join(", ")} };`,
        `const { instance } = await WebAssembly.instantiateStreaming(fetch(url), imports);`,
        `export const { ${names.join(", ")} } = instance.exports;`,
        `// ${basename(file)}`,
      ].join("\n");
    },
  };
}
