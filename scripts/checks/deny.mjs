// Runs `cargo deny`: licences, bans and sources of all dependencies, and advisories if their database can be downloaded.
import { findProgram } from "../machine.mjs";
import { Skip, ask, exitWith, run } from "../process.mjs";
import { must } from "./must.mjs";

await exitWith(async () => {
  const version = /(\d+)\.(\d+)/.exec(ask("cargo", ["deny", "--version"]) ?? "")?.slice(1).map(Number);
  if (!findProgram("cargo-deny") || !version || (version[0] === 0 && version[1] < 18)) {
    throw new Skip("no cargo-deny 0.18 or newer: cargo install cargo-deny");
  }
  await must("cargo", ["deny", "check", "bans", "licenses", "sources"]);
  if ((await run("cargo", ["deny", "fetch", "db"], { minutes: 5 })).code !== 0) {
    console.log("skipped: advisories, as their database cannot be downloaded");
    return;
  }
  await must("cargo", ["deny", "check", "advisories"]);
});
