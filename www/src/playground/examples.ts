// The programs with which the playground starts.

export type Language = "javascript" | "wgsl";

export const EXAMPLES: Record<Language, string> = {
  javascript: `// pagepress: the package. input: the bytes of your file, or 1 MiB of JSON.
const lz4 = await pagepress.compress(input, { level: "high", index: true });
show("ratio", (input.length / lz4.length).toFixed(2));

await time("compress", () => pagepress.compress(input));
await time("decompress", () => pagepress.decompress(lz4));

const frame = await pagepress.openFrame(lz4); // random access
const part = await frame.read(input.length >> 1, 80);
show("in the middle:", new TextDecoder().decode(part));
`,
  wgsl: `@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&input)) {
    output[id.x] = sqrt(input[id.x]);
  }
}
`,
};
