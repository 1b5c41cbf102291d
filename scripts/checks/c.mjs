// Installs the C interface in target/c, and compiles and runs its tests and its example with the sanitizers of the C compiler:
// `capi/tests/c` on the CPU and, if there is lavapipe, on a GPU; the example beside the command `lz4`.
import { readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { install } from "../../capi/install.mjs";
import { findProgram, lavapipe } from "../machine.mjs";
import { Remedy, Skip, ask, exitWith, root, run } from "../process.mjs";

const folder = path.join(root, "target", "c");
const capi = path.join(root, "capi");
const strict = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"];
const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Remedy(`${path.basename(command)} failed with ${code}: ${args.join(" ")}`);
  return output;
}

/** Returns the flags of pkg-config for the installed library. */
function flags(prefix, ...more) {
  const found = ask("env", [`PKG_CONFIG_PATH=${prefix}/lib/pkgconfig`, "pkg-config", "--cflags", "--libs", ...more, "pagepress"]);
  if (found === null) throw new Remedy("pkg-config does not find pagepress.pc");
  return found.split(/\s+/);
}

/** Compiles sources with the static library, whose memory AddressSanitizer then watches too. */
async function compileStatic(cc, prefix, sources, program) {
  const all = flags(prefix, "--static").filter((flag) => flag !== "-lpagepress" && !flag.startsWith("-L"));
  const libraries = all.filter((flag) => flag.startsWith("-l"));
  const options = all.filter((flag) => !flag.startsWith("-l"));
  await must(cc, [...strict, ...sanitizers, "-pthread", ...options, ...sources, path.join(prefix, "lib/libpagepress.a"), ...libraries, "-o", program]);
}

/** Bytes that compress, of a size that is no multiple of a block. */
function sample() {
  const words = Array.from({ length: 400_000 }, (_, i) => `${i % 977} ${(i * 7919) % 4001}\n`);
  return Buffer.from(words.join(""));
}

/** Exchanges files between the example and `lz4`. */
async function exchange(example, env) {
  const at = (name) => path.join(folder, name);
  await writeFile(at("sample"), sample());
  const lz4 = findProgram("lz4");
  await must(example, ["compress", at("sample"), at("sample.lz4")], { env });
  if (lz4) await must(lz4, ["-qqf", "-d", at("sample.lz4"), at("by-lz4")]);
  if (lz4) await must(lz4, ["-qqf", "-9", "-BD", at("sample"), at("sample.lz4")]);
  await must(example, ["decompress", at("sample.lz4"), at("back")], { env });
  for (const name of lz4 ? ["by-lz4", "back"] : ["back"]) {
    if (Buffer.compare(await readFile(at(name)), sample()) !== 0) throw new Remedy(`${name} has other content`);
  }
  const { code } = await run(example, ["decompress", at("sample"), at("back")], { env });
  if (code !== 1) throw new Remedy(`the example accepted a file that is not LZ4: exit code ${code}`);
  console.log(lz4 ? "the example and lz4 read each other's files" : "lz4 is missing; the example read its own file");
}

await exitWith(async () => {
  const cc = findProgram("cc", "gcc", "clang");
  if (!cc || process.platform !== "linux") throw new Skip("the tests of the C interface need Linux and a C compiler");
  if (!findProgram("pkg-config")) throw new Skip("the tests of the C interface need pkg-config");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const prefix = await install(path.join(folder, "prefix"), ["--profile", "dev", "--all-features"]);
  const sources = readdirSync(path.join(capi, "tests/c")).filter((name) => name.endsWith(".c")).map((name) => path.join(capi, "tests/c", name));
  const tests = path.join(folder, "tests");
  await compileStatic(cc, prefix, sources, tests);
  await must(tests, ["cpu"]);
  const cpp = findProgram("c++", "g++", "clang++");
  if (cpp) await must(cpp, ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", path.join(prefix, "include/pagepress.h")]);
  const manifest = lavapipe();
  // Drivers keep memory until the process ends, which is no leak of this library.
  const env = {
    VK_DRIVER_FILES: manifest ?? "",
    VK_ICD_FILENAMES: manifest ?? "",
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
    ASAN_OPTIONS: "detect_leaks=0",
  };
  if (manifest) await must(tests, ["wgpu"], { env });
  else console.log("0 passed; 0 failed; 1 skipped: there is no lavapipe");
  const example = path.join(folder, "stream");
  await must(cc, [...strict, path.join(capi, "examples/stream.c"), ...flags(prefix), "-o", example]);
  // It needs an NVIDIA GPU to run.
  await must(cc, [...strict, path.join(capi, "examples/device.c"), ...flags(prefix), "-ldl", "-o", path.join(folder, "device")]);
  await exchange(example, { LD_LIBRARY_PATH: path.join(prefix, "lib") });
});
