// The browser compiles every shader and has nothing to say about it.
import { check } from "./check.js";

async function compile(name) {
  const adapter = await navigator.gpu.requestAdapter();
  check(adapter, "no adapter");
  const device = await adapter.requestDevice();
  try {
    const code = await (await fetch(`/shaders/${name}`)).text();
    const module = device.createShaderModule({ code, label: name });
    const { messages } = await module.getCompilationInfo();
    const lines = messages.map(({ type, lineNum, linePos, message }) => `${lineNum}:${linePos} ${type}: ${message}`);
    check(lines.length === 0, lines.join("\n"));
  } finally {
    device.destroy();
  }
}

/** A case for each of the files `names`. */
export const casesFor = (names) => names.map((name) => [`shader ${name}`, () => compile(name)]);
