// Tests of the page's modules in Node: the readers of the format against the `lz4` command, the tar writer against `tar`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { strict as assert } from "node:assert";
import { build } from "esbuild";
import { root } from "../../scripts/process.mjs";
import { at, check, lz4, sampleBytes, writeSample } from "./harness.mjs";
import { pictures } from "./pictures.mjs";

/** Bundles modules of the page, given by their paths in `www/src`, and returns their exports. */
async function load(...modules) {
  const contents = modules.map((name) => `export * from ${JSON.stringify(path.join(root, "www/src", name))};`).join("\n");
  // A new name each time, since Node caches modules by their URL.
  const outfile = at(`modules-${modules.join("-").replaceAll("/", "-")}.mjs`);
  await build({ stdin: { contents, resolveDir: root }, bundle: true, format: "esm", outfile, logLevel: "error" });
  return import(pathToFileURL(outfile).href);
}

/** Decodes a block from its sequences. */
function decode(block, sequences) {
  const out = [];
  for (const { literalsAt, nLiterals, nMatch, offset, contentAt } of sequences) {
    assert.equal(out.length, contentAt);
    for (let i = 0; i < nLiterals; i += 1) out.push(block[literalsAt + i]);
    for (let i = 0; i < nMatch; i += 1) out.push(out[out.length - offset]);
  }
  return Buffer.from(out);
}

export async function testModules() {
  await testFormat();
  await testHelpers();
}

/** Tests the readers of the format in `www/src/lz4`. */
async function testFormat() {
  const { partsOf, sequencesOf, xxh32 } = await load("lz4/frame.ts", "lz4/sequences.ts", "lz4/xxh32.ts");
  const fileOf = (name) => new Blob([readFileSync(at(name))]);

  await check("xxh32 returns the published test values", () => {
    // The last input has more than 16 bytes, so that the path with four lanes runs.
    assert.equal(xxh32(new Uint8Array()), 0x02cc5d05);
    assert.equal(xxh32(new TextEncoder().encode("abc")), 0x32d153ff);
    assert.equal(xxh32(new TextEncoder().encode("Nobody inspects the spammish repetition")), 0xe2293b2f);
  });

  await check("frames written by lz4 are parsed: descriptor, blocks, checksums", async () => {
    const bytes = writeSample("frame.bin", 700_001);
    lz4("-f", "-q", "-B4", "-BX", "--content-size", at("frame.bin"), at("frame.lz4"));
    const parts = await partsOf(fileOf("frame.lz4"));
    assert.deepEqual(parts.map(({ kind }) => kind), ["frame"]);
    const [{ descriptor, blocks, bytes: length }] = parts;
    assert.equal(length, readFileSync(at("frame.lz4")).length);
    assert.equal(descriptor.contentSize, 700_001);
    assert.equal(descriptor.blockBytes, 65536);
    assert.equal(descriptor.headerChecksum.stored, descriptor.headerChecksum.computed);
    assert.equal(blocks.length, Math.ceil(700_001 / 65536));
    assert.ok(blocks.every(({ checksumMatches }) => checksumMatches === true), JSON.stringify(blocks));
    const file = readFileSync(at("frame.lz4"));
    const content = blocks.map(({ at: start, bytes: size, stored }) => {
      const block = file.subarray(start + 4, start + 4 + size);
      return stored ? block : decode(block, sequencesOf(block));
    });
    assert.ok(Buffer.concat(content).equals(bytes), "the sequences do not decode to the content");
  });

  await check("a block checksum detects a changed byte", async () => {
    const file = readFileSync(at("frame.lz4"));
    file[5000] ^= 1;
    const [{ blocks }] = await partsOf(new Blob([file]));
    assert.equal(blocks.filter(({ checksumMatches }) => checksumMatches === false).length, 1);
  });

  await check("legacy, concatenated and skippable frames are distinguished", async () => {
    lz4("-f", "-q", "-l", at("frame.bin"), at("legacy.lz4"));
    const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const all = Buffer.concat([readFileSync(at("frame.lz4")), skippable, readFileSync(at("legacy.lz4")), readFileSync(at("frame.lz4"))]);
    const parts = await partsOf(new Blob([all]));
    assert.deepEqual(parts.map(({ kind }) => kind), ["frame", "skippable", "legacy", "frame"]);
    assert.equal(parts.reduce((sum, { bytes }) => sum + bytes, 0), all.length);
    assert.equal(parts[1].magic, 0x184d2a53);
  });

  await check("truncated files and files other than LZ4 are errors with a code", async () => {
    const file = readFileSync(at("frame.lz4"));
    await assert.rejects(partsOf(new Blob([file.subarray(0, 9000)])), { code: "TRUNCATED_FRAME" });
    await assert.rejects(partsOf(new Blob(["these are words"])), { code: "NOT_LZ4" });
    assert.throws(() => sequencesOf(Uint8Array.of(0x10, 65, 9, 0)), { code: "BROKEN_BLOCK" });
    assert.throws(() => sequencesOf(Uint8Array.of(0xf0, 255)), { code: "BROKEN_BLOCK" });
  });
}

/** Returns the next generation of a board that wraps around, computed cell by cell. */
function lifeAfter(board, side) {
  return board.map((alive, at) => {
    let count = 0;
    for (const row of [-side, 0, side]) for (const column of [-1, 0, 1]) if (row !== 0 || column !== 0) count += board[(at + row + column + board.length) % board.length];
    return Number(count === 3 || (count === 2 && alive === 1));
  });
}

async function testHelpers() {
  const { tarOf, crossoverOf, spreadOf, shellWord, measure, interleaved, isBusy, three, speed, duration, size, plural } = await load(
    "compress/tar.ts",
    "inspect/crossover.ts",
    "measure/stats.ts",
    "measure/measure.ts",
    "shell/format.ts",
    "compress/shell-word.ts",
  );

  await check("tar reads the archives, with long names", async () => {
    const long = `${"folder/".repeat(20)}naïve file.txt`;
    const entries = [
      { path: "plain.txt", file: new File(["some text"], "plain.txt", { lastModified: 1e12 }) },
      { path: long, file: new File([sampleBytes(1025)], "naïve file.txt", { lastModified: 1e12 }) },
    ];
    writeFileSync(at("files.tar"), Buffer.from(await tarOf(entries).arrayBuffer()));
    const names = spawnSync("tar", ["-tf", at("files.tar"), "--quoting-style=literal"], { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    assert.deepEqual(names.stdout.toString().trim().split("\n"), ["plain.txt", long], names.stderr.toString());
    const content = spawnSync("tar", ["-xOf", at("files.tar"), long], { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    assert.ok(content.stdout.equals(sampleBytes(1025)));
  });

  await check("crossovers and medians are computed", () => {
    const point = (engine, bytes, ms) => ({ engine, bytes, compressMs: ms, decompressMs: ms });
    const slowAtFirst = [point("webgpu", 4, 8), point("cpu", 4, 1), point("webgpu", 64, 8), point("cpu", 64, 64)];
    assert.equal(crossoverOf(slowAtFirst, "compress"), 16);
    assert.equal(crossoverOf([point("webgpu", 4, 2), point("cpu", 4, 1)], "compress"), null);
    assert.equal(crossoverOf([point("webgpu", 4, 1), point("cpu", 4, 2)], "compress"), 0);
    assert.equal(crossoverOf([point("cpu", 4, 2)], "compress"), null);
    assert.deepEqual(spreadOf([3, 1, 2, 10]), { median: 2.5, least: 1, most: 10 });
  });

  await check("a call shorter than the tick of a coarse clock is repeated until its time is known", async () => {
    const { now } = performance;
    // A clock of 10 ms: one call would take 0 or 10 ms.
    performance.now = () => 10 * Math.floor(now.call(performance) / 10);
    try {
      let calls = 0;
      const { milliseconds, value } = await measure(() => (calls += 1));
      assert.ok(calls > 10 && value === calls, `${calls} calls`);
      assert.ok(milliseconds > 0 && milliseconds < 1, `${milliseconds} ms`);
    } finally {
      performance.now = now;
    }
  });

  await check("rounds run every task once, in orders that differ", async () => {
    const order = [];
    await interleaved(["a", "b", "c", "d", "e"], 20, async (task) => void order.push(task));
    const rounds = Array.from({ length: 20 }, (_, i) => order.slice(5 * i, 5 * i + 5));
    for (const round of rounds) assert.equal([...round].sort().join(""), "abcde");
    assert.ok(new Set(rounds.map((round) => round.join(""))).size > 5);
    assert.deepEqual([isBusy({ median: 2, least: 1, most: 2 }), isBusy({ median: 2, least: 1, most: 2.1 })], [false, true]);
  });

  await check("numbers have three significant digits and one unit", () => {
    assert.deepEqual([0, 0.01234, 1.2345, 12.345, 123.45, 1234.5].map(three), ["0", "0.0123", "1.23", "12.3", "123", "1\u202f230"]);
    assert.deepEqual([speed(4e6, 10), speed(4e6, 3.99), speed(0, 1), speed(1, 0)], ["400 MB/s", "1.00 GB/s", null, null]);
    assert.deepEqual([duration(0.0412), duration(3.14159), duration(1250)], ["41.2 µs", "3.14 ms", "1.25 s"]);
    assert.deepEqual([size(1), size(4096), size(1536), size(2.1 * 2 ** 30)], ["1 byte", "4 KiB", "1.50 KiB", "2.10 GiB"]);
    assert.deepEqual([plural(1, "page"), plural(2, "page"), plural(0, "page")], ["1 page", "2 pages", "0 pages"]);
  });

  await check("the machine computes the Game of Life", async () => {
    const binaryen = (await import("binaryen")).default;
    const text = readFileSync(path.join(root, "www/src/machine/life.wat"), "utf8");
    const { instance } = await WebAssembly.instantiate(binaryen.parseText(text).emitBinary());
    const { memory, step, cells, generation } = instance.exports;
    const [side, size] = [2048, 2048 * 2048];
    const board = () => new Uint8Array(memory.buffer, cells(), size);
    const noise = sampleBytes(size);
    board().set(noise.map((byte, i) => Number(byte % 3 === 0 && i % side > 1 && i % side < side - 2 && i > side && i < size - side)));
    const right = lifeAfter(board().slice(), side);
    step();
    assert.equal(generation(), 1);
    assert.deepEqual(Buffer.compare(Buffer.from(board()), Buffer.from(right)), 0);
  });

  await check("each tab has a picture in docs, and docs has no other picture of the page", () => {
    const html = readFileSync(path.join(root, "www/index.html"), "utf8");
    const tabs = [...html.matchAll(/id="tab-(\w+)"/g)].map(([, name]) => name);
    const names = Object.values(pictures);
    for (const tab of tabs) assert.ok(names.includes(`page-${tab}`) && Object.keys(pictures).some((key) => key.endsWith(`-${tab}`)), tab);
    const files = readdirSync(path.join(root, "docs")).filter((name) => /^page-.*\.webp$/.test(name)).sort();
    assert.deepEqual(files, names.map((name) => `${name}.webp`).sort());
  });

  await check("file names are quoted for the shell", () => {
    for (const name of ["a b.bin", "it's $HOME.bin", "-rf", "plain.bin"]) {
      const { stdout } = spawnSync("sh", ["-c", `printf %s ${shellWord(name)}`]);
      assert.equal(stdout.toString().replace(/^\.\//, ""), name);
    }
  });
}
