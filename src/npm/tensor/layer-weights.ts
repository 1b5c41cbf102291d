import { checkOneOf, checkOptions, fail } from "../base/arguments.js";
import type { LayerWeights as RawWeights } from "../wasm/tensor.js";
import { checkedBits, checkedFloats, DTYPES, packedWords } from "./arguments.js";
import { now } from "./call.js";
import type { GpuDevice } from "./device.js";
import type { LayerMatrix, LayerNorm, LayerWeights, LowRank, LowRankQkv } from "./layer-types.js";
import { rawOf } from "./tensor.js";
import type { DType, Quantization } from "./types.js";

/** Values of a matrix or a vector, in the form that the module accepts. */
interface Values {
  readonly name: string;
  readonly form: DType | Quantization;
  /** Number of elements; of packed weights of bytes. */
  readonly length: number;
  readonly words: Float32Array;
}

const QUANTIZATIONS: readonly Quantization[] = ["q4k", "q5k", "q6k", "q8_0", "f16"];
const MATRIX = { values: true, dtype: true, quantization: true, bias: true } as const;
const MATRICES = ["q", "k", "v", "o", "gate", "up", "down"] as const;
const NORMS = ["attentionNorm", "mlpNorm"] as const;
const WEIGHTS: Readonly<Record<keyof LayerWeights, true>> = {
  attentionNorm: true, q: true, k: true, v: true, o: true, mlpNorm: true, gate: true, up: true, down: true,
};

function floats(name: string, value: unknown): Values {
  const words = checkedFloats(name, value);
  return { name, form: "float32", length: words.length, words };
}

/** Returns the values of a vector of this name if it is given. */
const optional = (name: string, value: unknown): Values[] => (value === undefined ? [] : [floats(name, value)]);

function normValues(name: string, given: LayerNorm): Values[] {
  if (!hasOptions(given)) return [floats(name, given)];
  const { weight, bias } = given as { weight: Float32Array; bias?: Float32Array };
  checkOptions({ ...given }, { weight: true, bias: true });
  return [floats(name, weight), ...optional(`${name}.bias`, bias)];
}

function matrixValues(name: string, given: LayerMatrix): Values[] {
  if (!hasOptions(given)) return [floats(name, given)];
  checkOptions({ ...given } as Record<keyof typeof MATRIX, unknown>, MATRIX);
  const { values, dtype, quantization, bias } = given as { [key in keyof typeof MATRIX]?: never };
  return [elements(name, values, dtype, quantization), ...optional(`${name}.bias`, bias)];
}

function elements(name: string, values: unknown, dtype: DType | undefined, quantization: Quantization | undefined): Values {
  if (quantization !== undefined) {
    if (dtype !== undefined) fail(name, "dtype beside quantization", "give one of them");
    checkOneOf(`${name}.quantization`, quantization, QUANTIZATIONS);
    const [words, length] = packedWords(name, values);
    return { name, form: quantization, length, words };
  }
  if (dtype === undefined || dtype === "float32") return floats(name, values);
  checkOneOf(`${name}.dtype`, dtype, DTYPES);
  const bits = checkedBits(name, values, dtype);
  return { name, form: dtype, length: bits.length, words: packedWords(name, bits)[0] };
}

/** Returns true for an object with options, false for an array or another value. */
function hasOptions(value: unknown): boolean {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** Returns the values of all weights of a layer; throws `INVALID_ARGUMENT` for values of a wrong type. */
export function layerValues(weights: LayerWeights): readonly Values[] {
  checkOptions(weights, WEIGHTS);
  const norms = NORMS.flatMap((name) => normValues(name, weights[name]));
  const given = MATRICES.filter((name) => name !== "gate" || weights.gate !== undefined);
  return [...norms, ...given.flatMap((name) => matrixValues(name, weights[name] as LayerMatrix))];
}

/** Returns the values of low-rank updates; throws `INVALID_ARGUMENT` for values of a wrong type. */
export function lowRankValues(lora: LowRankQkv): readonly Values[] {
  checkOptions(lora, { rank: true, scale: true, q: true, k: true, v: true });
  const pair = (name: "q" | "k" | "v", { a, b }: LowRank) => [floats(`${name}.a`, a), floats(`${name}.b`, b)];
  return (["q", "k", "v"] as const).flatMap((name) => {
    const given = lora[name];
    return given === undefined ? [] : pair(name, given ?? fail(name, "null", "give { a, b }, or leave it out"));
  });
}

/** Uploads values one after the other, and adds them to `list`. Staging memory is not needed for all of them at once. */
export async function upload(device: GpuDevice, all: readonly Values[], list: RawWeights): Promise<void> {
  for (const { name, form, length, words } of all) {
    const tensor = await device.tensor(words);
    try {
      now(() => list.add(name, form, length, rawOf(name, tensor)));
    } finally {
      tensor.dispose();
    }
    await device.synchronize();
  }
}
