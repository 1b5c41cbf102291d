// A Vite plugin for `import * as wasm from "./name.wasm"`, which webpack supports without one. lz4-wasm is published in
// this form.
import { basename } from "node:path";
import { readFileSync } from "node:fs";

const suffix = "?as-javascript";

/** Resolves imports of WebAssembly files in npm packages to modules that instantiate them and re-export their exports. */
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
