// Tests that the browser compiles every shader without messages.
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

/** Returns a case per shader file in `names`. */
export const casesFor = (names) => names.map((name) => [`shader ${name}`, () => compile(name)]);
