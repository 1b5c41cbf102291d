// Compiles every kernel, in every variant that jobs choose, for DX12: naga's HLSL, as wgpu asks for it, by Microsoft's compiler. Fails on any
// error.
//
// The compiler for Linux, with its headers, is inside the source package `compushady` of pip, which is unpacked into target/dxc. It is not
// built or installed.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";
import { must } from "./must.mjs";

const version = "0.17.5";
const folder = path.join(root, "target", "dxc");
const sources = path.join(folder, `compushady-${version}`, "compushady", "backends");
const library = path.join(sources, "libdxcompiler_x86_64.so.3.7");
const program = path.join(folder, "dxc");

/** The minor numbers of the shader models: the least one that wgpu takes, and the one for which this compiler was made. */
const models = ["0", "6"];

/** Unpacks the compiler and builds the program that calls it, unless they are there. */
async function prepare() {
  if (existsSync(program)) return;
  const python = findProgram("python3", "python");
  if (!python || !findProgram("c++")) throw new Skip("Microsoft's compiler needs python3 and c++");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const download = ["-m", "pip", "--quiet", "download", "--no-deps", "--no-binary", "compushady", `compushady==${version}`, "--dest", folder];
  const { code } = await run(python, download, { minutes: 15 });
  if (code !== 0) throw new Skip("the package compushady, with Microsoft's compiler for Linux, cannot be downloaded");
  await must(python, ["-m", "tarfile", "-e", path.join(folder, `compushady-${version}.tar.gz`), folder], { isQuiet: true });
  const flags = ["-std=c++17", "-O1", "-w", "-I", sources];
  await must("c++", [...flags, path.join(root, "scripts/compilers/dxc.cpp"), "-ldl", "-o", program]);
}

await exitWith(async () => {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Skip("Microsoft's compiler is that for Linux on x86-64");
  await prepare();
  await must("cargo", ["build", "--example", "kernels_as_hlsl", "--all-features"]);
  const failed = [];
  for (const minor of models) {
    const texts = path.join(folder, `6.${minor}`);
    await rm(texts, { recursive: true, force: true });
    await mkdir(texts, { recursive: true });
    await must(path.join(root, "target/debug/examples/kernels_as_hlsl"), [texts, minor], { isQuiet: true });
    const files = readdirSync(texts).map((file) => path.join(texts, file));
    const { code, output } = await run(program, [library, `cs_6_${minor}`, ...files], { isQuiet: true });
    const messages = output.replace(/^ok: .*\n/gm, "").trim();
    const compiled = output.match(/^ok: /gm)?.length ?? 0;
    console.log(`shader model 6.${minor}: ${compiled} of ${files.length} variants compile`);
    if (code !== 0 || compiled !== files.length) failed.push(`shader model 6.${minor}:\n${messages || `exit code ${code}`}`);
  }
  if (failed.length > 0) throw new Remedy(failed.join("\n"));
});
