/** Returns why an engine is not available, from the message of the error. */
export function absence(message: string): string {
  const reason = message.replace(/^backend webgpu is not available: /, "").replace(/^webgpu: /, "");
  if (/requestAdapter\(\) gives no adapter/.test(reason)) return "Not available: this browser offers no WebGPU adapter";
  return `Not available: ${reason}`;
}
