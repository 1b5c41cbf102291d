// Tests that the browser compiles every shader, joined with its imports, without messages.
import { check } from "./check.js";

/** Returns a shader followed by the files that it imports, once each, as build.rs joins them. */
async function joined(name) {
  const names = [name];
  let code = "";
  for (const next of names) {
    const text = await (await fetch(`/shaders/${next}`)).text();
    for (const [, list] of text.matchAll(/^\/\/ import: (.*)$/gm)) {
      names.push(...list.split(", ").map((file) => `${file}.wgsl`).filter((file) => !names.includes(file)));
    }
    code += text;
  }
  return code;
}

async function compile(name) {
  const adapter = await navigator.gpu.requestAdapter();
  check(adapter, "no adapter");
  const device = await adapter.requestDevice();
  try {
    const module = device.createShaderModule({ code: await joined(name), label: name });
    const { messages } = await module.getCompilationInfo();
    const lines = messages.map(({ type, lineNum, linePos, message }) => `${lineNum}:${linePos} ${type}: ${message}`);
    check(lines.length === 0, lines.join("\n"));
  } finally {
    device.destroy();
  }
}

/** Returns a case per shader file in `names`. */
export const casesFor = (names) => names.map((name) => [`shader ${name}`, () => compile(name)]);
