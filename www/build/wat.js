// A Vite plugin for `import bytes from "./name.wat"`: assembles WebAssembly text, and gives its bytes.
import { readFileSync } from "node:fs";
import binaryen from "binaryen";

export function wat() {
  return {
    name: "wat",
    load(id) {
      if (!id.endsWith(".wat")) return null;
      const module = binaryen.parseText(readFileSync(id, "utf8"));
      if (!module.validate()) throw new Error(`${id} is not valid WebAssembly`);
      module.setFeatures?.(binaryen.Features.MVP);
      binaryen.setOptimizeLevel(3);
      module.optimize();
      const base64 = Buffer.from(module.emitBinary()).toString("base64");
      return `export default Uint8Array.from(atob(${JSON.stringify(base64)}), (character) => character.charCodeAt(0));`;
    },
  };
}
