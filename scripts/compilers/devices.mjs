// The GPUs whose compilers run, and their statistics.
//
// Each compiler prints statistics of its own: registers of an invocation, `waves` (subgroups, or threads, that a core runs at
// once, by registers), spills, and the size of the code.

/** Reads one number of a line, or 0. */
const number = (text, pattern) => Number(pattern.exec(text)?.[1] ?? 0);

/** Adds the statistics of AMD's driver in Mesa: one number in a line. */
function radv(line, into) {
  const [, name, value] = /^(VGPRs|Spilled [SV]GPRs|Code size|Subgroups per SIMD): (\d+)/.exec(line) ?? [];
  if (name === "VGPRs") into.registers = Number(value);
  else if (name === "Code size") into.bytes = Number(value);
  else if (name === "Subgroups per SIMD") into.waves = Number(value);
  else if (name) into.spills += Number(value);
}

/** Adds the statistics of Qualcomm's: several numbers in a line. Accesses to private memory are in the listing only. */
function turnip(line, into) {
  if (/\b(stp|ldp)\.[a-z]/.test(line)) into.spills += 1;
  if (!line.includes("CL prog")) return;
  if (line.includes(" dwords")) into.bytes = 4 * number(line, /(\d+) dwords/);
  if (line.includes(" max_waves")) into.waves = number(line, /(\d+) max_waves/);
  if (line.includes(" full")) into.registers = number(line, /(\d+) full/);
}

/** Adds the statistics of Apple's. */
function honeykrisp(line, into) {
  if (!line.startsWith("CS shader: ")) return;
  into.bytes = number(line, /(\d+) code size/);
  into.registers = number(line, /(\d+) gprs/);
  into.waves = number(line, /(\d+) threads/);
  into.spills += number(line, /(\d+):\d+ spills/) + number(line, /:(\d+) spills:fills/) + number(line, /(\d+) scratch/);
}

/** Adds the statistics of NVIDIA's in Mesa. */
function nvk(line, into) {
  if (line.startsWith("Num GPRs: ")) into.registers = number(line, /(\d+)/);
  if (line.startsWith("Max warps/SM: ")) into.waves = number(line, /(\d+)/);
  if (/^(Spills|Fills) (to|from) mem: /.test(line)) into.spills += number(line, /(\d+)/);
}

const amd = (name, id) => ({ name, shim: "amdgpu", manifest: "radeon", env: { AMDGPU_GPU_ID: id, RADV_DEBUG: "shaderstats" }, read: radv });
const adreno = (model) => ({ name: `Adreno ${model}`, shim: "freedreno", manifest: "freedreno", env: { FD_GPU_ID: String(model), IR3_SHADER_DEBUG: "cs" }, read: turnip });

/** The GPUs whose drivers Debian has for x86-64. */
export const devices = [
  amd("AMD Polaris 10 (GCN 4)", "polaris10"),
  amd("AMD Vega 10 (GCN 5)", "vega10"),
  amd("AMD Renoir (GCN 5)", "renoir"),
  amd("AMD Navi 21 (RDNA 2)", "navi21"),
  amd("AMD Navi 31 (RDNA 3)", "navi31"),
  amd("AMD gfx1201 (RDNA 4)", "gfx1201"),
  ...[630, 660, 730, 740, 750].map(adreno),
  { name: "Apple M1", shim: "asahi", manifest: "asahi", env: { AGX_MESA_DEBUG: "shaderdb" }, read: honeykrisp },
  {
    name: "NVIDIA Ampere by NVK",
    shim: "nouveau",
    manifest: "nouveau",
    env: { NOUVEAU_CHIPSET: "172", NVK_I_WANT_A_BROKEN_VULKAN_DRIVER: "1", NAK_DEBUG: "print" },
    read: nvk,
  },
];
