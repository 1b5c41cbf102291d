// The images of a PC: SeaBIOS, and Debian's Linux kernel for i386 with the shell of its installer. They are in two Debian
// packages, which are downloaded and not installed.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { root } from "../../scripts/build/run.mjs";
import { findProgram } from "../../scripts/machine.mjs";
import { run, Skip } from "../../scripts/process.mjs";
import { archive, entries } from "./cpio.mjs";

const packages = ["seabios", "debian-installer-12-netboot-i386"];
const seabios = "usr/share/seabios";
const installer = "usr/lib/debian-installer/images/12/i386/text/debian-installer/i386";

/** The programs of busybox that the script uses. */
const programs = ["echo", "sh", "sha256sum", "sleep"];
const libraries = ["lib/i386-linux-gnu/ld-linux.so.2", "lib/i386-linux-gnu/libc.so.6"];

/** The first program of the machine. The kernel passes ROUNDS and STEPS on from its command line. */
const script = `#!/bin/sh
exec </dev/console >/dev/console 2>&1
x=1; n=0
while [ $n -lt $ROUNDS ]; do
  i=0
  while [ $i -lt $STEPS ]; do x=$(( (x * 1103515245 + 12345) & 2147483647 )); i=$((i + 1)); done
  n=$((n + 1))
  echo $x >> /tmp/log
  echo "round $n $x"
done
echo "done $(sha256sum < /tmp/log)"
while :; do sleep 1000; done
`;

/** Returns the initial file system: a shell of the installer's, and the script. */
function initialFiles(initrd) {
  const found = new Map([...entries(initrd)].map(({ name, data }) => [name, data]));
  const [folder, file, link] = [0o040755, 0o100755, 0o120777];
  const text = (content) => new TextEncoder().encode(content);
  return archive([
    ...["bin", "lib", "lib/i386-linux-gnu", "tmp"].map((name) => ({ name, mode: folder, data: new Uint8Array() })),
    ...["bin/busybox", ...libraries].map((name) => ({ name, mode: file, data: found.get(name) })),
    ...programs.map((name) => ({ name: `bin/${name}`, mode: link, data: text("busybox") })),
    { name: "lib/ld-linux.so.2", mode: link, data: text("i386-linux-gnu/ld-linux.so.2") },
    { name: "init", mode: file, data: text(script) },
  ]);
}

/** Downloads and unpacks the packages to `folder`. */
async function unpack(folder) {
  if (!findProgram("apt-get") || !findProgram("dpkg-deb")) throw new Skip("there is no apt-get, which the images come from");
  const { code } = await run("apt-get", ["download", "-q", ...packages], { cwd: folder, minutes: 10 });
  if (code !== 0) throw new Skip(`the packages ${packages.join(" and ")} cannot be had from Debian`);
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".deb"))) {
    const unpacked = await run("dpkg-deb", ["-x", file, "."], { cwd: folder });
    if (unpacked.code !== 0) throw new Error(`dpkg-deb cannot unpack ${file}`);
  }
}

/** Returns a folder with the images, which is filled on first use. Throws a `Skip` where the packages cannot be had. */
export async function debianImages() {
  const version = createHash("sha256").update(await readFile(fileURLToPath(import.meta.url))).digest("hex");
  const images = join(root, "target/machines", `images-${version.slice(0, 12)}`);
  if (existsSync(images)) return images;
  const folder = join(root, "target/machines/debian");
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "images"), { recursive: true });
  await unpack(folder);
  for (const name of ["bios.bin", "vgabios.bin"]) await cp(join(folder, seabios, name), join(folder, "images", name), { dereference: true });
  await cp(join(folder, installer, "linux"), join(folder, "images/linux"));
  const initrd = gunzipSync(await readFile(join(folder, installer, "initrd.gz")));
  await writeFile(join(folder, "images/initrd.cpio"), initialFiles(initrd));
  await rename(join(folder, "images"), images);
  await rm(folder, { recursive: true });
  return images;
}
