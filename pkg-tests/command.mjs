// Tests the command of the packed tarball against the command `lz4`.
import { strict as assert } from "node:assert";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../scripts/machine.mjs";

const MOST_BYTES = 2 ** 26;

/**
 * Returns a folder for the command and functions that run it there: `succeeds` and `fails` check the outcome, and `fails`
 * also that no file was created. `content` is that of the file `a.txt` in the folder.
 */
function runnerIn(place) {
  const folder = join(place, "files");
  mkdirSync(folder);
  const program = join(place, "node_modules/.bin/pagepress");
  const run = (args, input) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, input: input ?? "", maxBuffer: MOST_BYTES });
    return { status, stdout, stderr: stderr.toString() };
  };
  const at = (name) => join(folder, name);
  const content = readFileSync(join(place, "sample.txt"));
  writeFileSync(at("a.txt"), content);
  chmodSync(at("a.txt"), 0o640);
  const fails = (args, status, message, input) => {
    const before = readdirSync(folder);
    const result = run(args, input);
    assert.equal(result.status, status, result.stderr);
    assert.match(result.stderr, message);
    assert.deepEqual(readdirSync(folder), before, "files were left");
  };
  const succeeds = (args, input) => {
    const result = run(args, input);
    assert.equal(result.status, 0, result.stderr);
    return result;
  };
  return { folder, program, at, content, fails, succeeds };
}

/** Tests the command of the package installed in `place`. */
export async function checkCommand(report, place) {
  const runner = runnerIn(place);
  await checkFiles(report, runner);
  await checkDictionary(report, runner);
  await checkMessages(report, runner, place);
  await checkSignal(report, runner);
  rmSync(runner.folder, { recursive: true });
}

async function checkDictionary(report, { at, content, fails, succeeds }) {
  await report.run("command, dictionary", () => {
    writeFileSync(at("d"), content.subarray(0, 40_000));
    writeFileSync(at("e"), "another");
    succeeds(["-D", "d", "a.txt", "-fo", "d.lz4"]);
    assert.ok(statSync(at("d.lz4")).size < 0.7 * statSync(at("a.txt")).size, "a dictionary helps");
    assert.ok(succeeds(["-dc", "--dictionary", "d", "d.lz4"]).stdout.equals(content));
    fails(["-t", "d.lz4"], 1, /d\.lz4: dictionary 0x[0-9a-f]{8} is needed; .*: -D FILE/);
    fails(["-t", "-D", "e", "d.lz4"], 1, /the given one is 0x[0-9a-f]{8}; .*: -D FILE/);
    fails(["-t", "-D", "none", "d.lz4"], 1, /-D none: ENOENT/);
    const lz4 = findProgram("lz4");
    if (!lz4) return;
    assert.ok(execFileSync(lz4, ["-dc", "-D", at("d"), at("d.lz4")], { maxBuffer: MOST_BYTES }).equals(content));
    const theirs = execFileSync(lz4, ["-9c", "-D", at("d"), at("a.txt")], { maxBuffer: MOST_BYTES, stdio: ["ignore", "pipe", "ignore"] });
    assert.ok(succeeds(["-dc", "-D", "d"], theirs).stdout.equals(content));
  });
}

async function checkFiles(report, { at, content, fails, succeeds }) {
  await report.run("command, round trip of a file", () => {
    assert.match(succeeds(["a.txt"]).stderr, /^a\.txt -> a\.txt\.lz4: \d+ -> \d+ bytes/);
    assert.equal(statSync(at("a.txt.lz4")).mode & 0o777, 0o640);
    assert.equal(succeeds(["-d", "-q", "-o", "b.txt", "a.txt.lz4"]).stderr, "");
    assert.ok(readFileSync(at("b.txt")).equals(content));
    fails(["a.txt"], 1, /a\.txt\.lz4 exists; give -f/);
    succeeds(["compress", "-9f", "--index", "a.txt"]);
    succeeds(["-t", "a.txt.lz4"]);
    assert.ok(succeeds(["d", "-c", "a.txt.lz4"]).stdout.equals(content));
  });
  await report.run("command, standard input and output", () => {
    const packed = succeeds([], content).stdout;
    assert.ok(succeeds(["-dc"], packed).stdout.equals(content));
  });
  await report.run("command, files from and for lz4", () => {
    const lz4 = findProgram("lz4");
    assert.ok(lz4, "lz4 is not installed");
    for (const level of ["-1", "-9"]) {
      const packed = succeeds(["-c", level, "a.txt"]).stdout;
      assert.ok(execFileSync(lz4, ["-dc"], { input: packed, maxBuffer: MOST_BYTES }).equals(content));
    }
    for (const flags of [["-qc"], ["-9", "-BD", "-B4", "-qc"], ["-l", "-qc"]]) {
      const packed = execFileSync(lz4, flags, { input: content, maxBuffer: MOST_BYTES, stdio: ["pipe", "pipe", "ignore"] });
      assert.ok(succeeds(["-dc"], packed).stdout.equals(content), flags.join(" "));
    }
  });
}

async function checkMessages(report, { at, fails, succeeds }, place) {
  await report.run("command, errors", () => {
    fails(["-d", "a.txt"], 1, /a\.txt does not end in \.lz4/);
    fails(["-t", "a.txt"], 1, /a\.txt: not an LZ4 frame/);
    fails(["none"], 1, /none/);
    fails(["."], 1, /is a directory/);
    writeFileSync(at("cut.lz4"), readFileSync(at("a.txt.lz4")).subarray(0, 100_000));
    fails(["-d", "cut.lz4"], 1, /cut\.lz4: truncated/);
    fails(["-d", "--limit", "1000", "-o", "c", "a.txt.lz4"], 1, /limit/);
    const misuses = [["--wrong"], ["-dz"], ["-o", "x", "a", "b"], ["--level", "best"], ["--block-size", "1"], ["bench"]];
    for (const args of misuses) fails(args, 2, /see --help/);
  });
  await report.run("command, help and version", () => {
    assert.match(succeeds(["--help"]).stdout.toString(), /^Compresses and decompresses LZ4/);
    const { version } = JSON.parse(readFileSync(join(place, "node_modules/pagepress/package.json"), "utf8"));
    assert.equal(succeeds(["--version"]).stdout.toString(), `pagepress ${version}\n`);
  });
}

async function checkSignal(report, { folder, program, at, content }) {
  await report.run("command, a signal removes partial output", async () => {
    const child = spawn(program, ["-o", "late.lz4", "-"], { cwd: folder, stdio: ["pipe", "ignore", "ignore"] });
    const isBegun = () => readdirSync(folder).some((name) => name.startsWith(".late"));
    // The command is killed before it has read all input.
    child.stdin.on("error", () => undefined).write(content);
    while (!isBegun() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGTERM");
    const [, signal] = await once(child, "exit");
    assert.equal(signal, "SIGTERM");
    assert.ok(!isBegun() && !existsSync(at("late.lz4")), "files were left");
  });
}
