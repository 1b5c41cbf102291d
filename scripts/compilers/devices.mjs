// The GPUs whose compilers run, and their statistics.
//
// Each compiler prints statistics of its own: registers of an invocation, `waves` (subgroups, or threads, that a core runs at
// once, by registers), spills, and the size of the code.
import { Remedy } from "../process.mjs";

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

/** Adds the statistics of Arm's in Mesa. Its `threads` are those of a core, by halves: 1 or 2 with up to 32 registers. */
function panvk(line, into) {
  if (!line.includes("MESA_SHADER_COMPUTE shader: ")) return;
  into.bytes = 16 * number(line, /(\d+) quadwords/);
  into.waves = number(line, /(\d+) threads/);
  into.spills += number(line, /(\d+):\d+ spills/) + number(line, /:(\d+) spills:fills/);
}

/**
 * Adds the statistics of Intel's: a line for each width of a subgroup (`waves`). The driver takes the widest without spills, or else the first.
 */
function anv(line, into) {
  const width = number(line, /^SIMD(\d+) shader: /);
  const spills = number(line, /(\d+):\d+ spills/) + number(line, /:(\d+) spills:fills/);
  if (width === 0 || (spills > 0 && into.waves > 0)) return;
  into.waves = width;
  into.spills = spills;
  into.registers = number(line, /GRF registers: (\d+)/);
  into.bytes = number(line, /to (\d+) bytes/);
}

/** Adds the statistics of Broadcom's. Its threads are those of a processor: 4, 2 or 1. */
function v3dv(line, into) {
  if (!line.includes("MESA_SHADER_COMPUTE shader: ")) return;
  into.bytes = 8 * number(line, /(\d+) inst,/);
  into.registers = number(line, /(\d+) max-temps/);
  into.waves = number(line, /(\d+) threads/);
  into.spills = number(line, /(\d+):\d+ spills/) + number(line, /:(\d+) spills:fills/);
}

/** Adds the statistics of NVIDIA's in Mesa. */
function nvk(line, into) {
  if (line.startsWith("Num GPRs: ")) into.registers = number(line, /(\d+)/);
  if (line.startsWith("Max warps/SM: ")) into.waves = number(line, /(\d+)/);
  if (/^(Spills|Fills) (to|from) mem: /.test(line)) into.spills += number(line, /(\d+)/);
}

/**
 * The drivers, by the name of their drm-shim: the name of their manifest, the environment variables that choose a GPU and print statistics,
 * and the reader of these. Debian's packages for x86-64 have them, but for what `built`: "shim" or "driver", with its shim. Those for arm64
 * have what `emulated`.
 */
const drivers = {
  amdgpu: { manifest: "radeon", variables: (id) => ({ AMDGPU_GPU_ID: id, RADV_DEBUG: "shaderstats" }), read: radv },
  freedreno: { manifest: "freedreno", variables: (id) => ({ FD_GPU_ID: id, IR3_SHADER_DEBUG: "cs" }), read: turnip },
  asahi: { manifest: "asahi", variables: () => ({ AGX_MESA_DEBUG: "shaderdb" }), read: honeykrisp },
  nouveau: {
    manifest: "nouveau",
    variables: (id) => ({ NOUVEAU_CHIPSET: id, NVK_I_WANT_A_BROKEN_VULKAN_DRIVER: "1", NAK_DEBUG: "print" }),
    read: nvk,
  },
  intel: { built: "shim", manifest: "intel", variables: (id) => ({ INTEL_STUB_GPU_PLATFORM: id, INTEL_DEBUG: "cs" }), read: anv },
  panfrost: {
    built: "driver",
    manifest: "panfrost",
    variables: (id) => ({
      PAN_GPU_ID: id,
      BIFROST_MESA_DEBUG: "shaderdb",
      PAN_I_WANT_A_BROKEN_VULKAN_DRIVER: "1",
      // Mesa's driver of Bifrost (6, 7) passes no conformance tests, so that wgpu hides it.
      ...(/^[67]/.test(id) && { PAGEPRESS_ANY_DRIVER: "1" }),
    }),
    read: panvk,
  },
  // The only id: the shim is made to answer as a V3D 7.1.
  v3d: { built: "driver", manifest: "broadcom", variables: () => ({ V3D_DEBUG: "shaderdb" }), read: v3dv },
  // Prints no statistics.
  powervr: { emulated: true, manifest: "powervr_mesa", variables: () => ({ PVR_I_WANT_A_BROKEN_VULKAN_DRIVER: "1" }), read: () => {} },
};

/** Returns the GPU that a driver knows by an id, such as "gfx1100" of amdgpu. */
function gpu(name, driver, id = "") {
  const { variables, ...rest } = drivers[driver];
  return { name, driver, ...rest, variables: variables(id) };
}

/** The GPUs whose kernels are compared with the record. */
export const devices = [
  gpu("AMD Polaris 10 (GCN 4)", "amdgpu", "polaris10"),
  gpu("AMD Vega 10 (GCN 5)", "amdgpu", "vega10"),
  gpu("AMD Renoir (GCN 5)", "amdgpu", "renoir"),
  gpu("AMD Navi 21 (RDNA 2)", "amdgpu", "navi21"),
  gpu("AMD Navi 31 (RDNA 3)", "amdgpu", "navi31"),
  gpu("AMD gfx1201 (RDNA 4)", "amdgpu", "gfx1201"),
  ...["630", "660", "730", "740", "750"].map((model) => gpu(`Adreno ${model}`, "freedreno", model)),
  gpu("Apple M1", "asahi"),
  gpu("NVIDIA Ampere by NVK", "nouveau", "172"),
  gpu("Intel Tiger Lake (Xe-LP)", "intel", "tgl"),
  gpu("Intel Arc A770M (Xe-HPG)", "intel", "dg2"),
  gpu("Intel Battlemage G21 (Xe2)", "intel", "bmg"),
  gpu("Mali-G610 (Valhall)", "panfrost", "a867"),
  gpu("Mali-G310 (Valhall)", "panfrost", "ac74"),
  gpu("Mali-G52 (Bifrost)", "panfrost", "7212"),
  gpu("Raspberry Pi 5 (V3D 7.1)", "v3d"),
  gpu("PowerVR BXS-4-64", "powervr"),
];

/** Returns any GPU, by `DRIVER:ID`. */
export function chosenGpu(text) {
  const [driver, id] = text.split(":");
  if (!Object.hasOwn(drivers, driver)) throw new Remedy(`no driver is named ${driver}; known: ${Object.keys(drivers).join(", ")}`);
  return gpu(text, driver, id);
}
