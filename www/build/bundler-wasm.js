// A Vite plugin for `import * as wasm from "./name.wasm"`, which webpack supports without one, and for
// `require("./name.wasm")`, which its file-loader supports. lz4-wasm and @foxglove/wasm-lz4 are published in these forms.
import { basename } from "node:path";
import { readFileSync } from "node:fs";

const asExports = "?as-javascript";
const asUrl = "?as-url-of-require";

/**
 * Resolves imports of WebAssembly files in npm packages to modules that instantiate them and re-export their exports, and
 * calls of `require` to the URL of the file.
 */
export function bundlerWasm() {
  return {
    name: "bundler-wasm",
    enforce: "pre",
    async resolveId(source, importer, { kind }) {
      if (!source.endsWith(".wasm") || !importer?.includes("node_modules")) return null;
      const found = await this.resolve(source, importer, { skipSelf: true });
      return found && { id: `${found.id}${kind === "require-call" ? asUrl : asExports}` };
    },
    async load(id) {
      if (id.endsWith(asUrl)) {
        return `import url from ${JSON.stringify(`${id.slice(0, -asUrl.length)}?url`)};\nexport { url as "module.exports" };`;
      }
      if (!id.endsWith(asExports)) return null;
      const file = id.slice(0, -asExports.length);
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
