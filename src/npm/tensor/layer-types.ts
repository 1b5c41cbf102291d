import type { DType, Halves, HalfType, Quantization } from "./types.js";

/** Sizes and variants of a layer, for `GpuDevice.createLayer`. The defaults are those of a Llama-shaped decoder. */
export interface LayerConfig {
  /** Number of elements of an input or output row. */
  hidden: number;
  /** Number of heads of queries. */
  nHeads: number;
  /** Number of heads of keys and values, a divisor of `nHeads`. Default: `nHeads`. */
  nKvHeads?: number;
  /** Number of elements of a head, at most 256, and even for rotary positions. Default: `hidden / nHeads`. */
  headDim?: number;
  /** Width of the hidden layer of the MLP. */
  mlpWidth: number;
  /** Kind of both norms. Default `"rms"`. */
  norm?: "rms" | "layer";
  /** Added under the square roots of the norms. Default 1e-5. */
  epsilon?: number;
  /** The MLP: down(swish(gate(z)) up(z)) for `swiGlu`; down(gelu(up(z))) for `gelu`; with the tanh approximation for
   * `geluTanh`. Default `"swiGlu"`. */
  mlp?: "swiGlu" | "gelu" | "geluTanh";
  /** If true, a row attends to itself and the rows before it, including those of earlier calls; else to all rows of its
   * call. Default true. */
  causal?: boolean;
  /** Number of keys that a row attends to at most: its own, and those before it (sliding-window attention). For causal layers;
   * the key-value cache keeps all rows. Default: all of them. */
  window?: number;
  /** Base of the rotary positions; null for none. Elements i and i + `headDim` / 2 of a head are rotated by
   * position · base^(-2 i / `headDim`). Default 10,000. */
  rotaryBase?: number | null;
  /** Maximum number of rows of a sequence. A causal layer allocates its key-value cache for it. Default 2048. */
  maxPositions?: number;
  /** Type of the keys and values that attention reads, which are those of the cache; queries are rounded to it, too.
   * `nKvHeads * headDim` must be even for a type of 16 bits. Default `"float32"`. */
  kvType?: DType;
}

/** A matrix, `[outputs, inputs]`, row-major: elements of 32 bits; or an object with elements of 32 or 16 bits, or with packed
 * blocks as in a GGUF file, and optionally a bias of one element per output. A row of packed blocks has a multiple of 256
 * elements, of `q8_0` of 32, of `f16` of 4, and at most 131,072. */
export type LayerMatrix =
  | Float32Array
  | { values: Float32Array; dtype?: "float32"; bias?: Float32Array }
  | { values: Halves; dtype: HalfType; bias?: Float32Array }
  | { values: Uint8Array; quantization: Quantization; bias?: Float32Array };

/** Weight of a norm, `[hidden]`, or weight and bias. */
export type LayerNorm = Float32Array | { weight: Float32Array; bias?: Float32Array };

/** Weights of a layer, in the layout of model files. */
export interface LayerWeights {
  /** Norm before attention. */
  attentionNorm: LayerNorm;
  /** `[nHeads * headDim, hidden]` */
  q: LayerMatrix;
  /** `[nKvHeads * headDim, hidden]` */
  k: LayerMatrix;
  /** `[nKvHeads * headDim, hidden]` */
  v: LayerMatrix;
  /** `[hidden, nHeads * headDim]` */
  o: LayerMatrix;
  /** Norm before the MLP. */
  mlpNorm: LayerNorm;
  /** `[mlpWidth, hidden]`; required for `swiGlu`, absent for the other variants. */
  gate?: LayerMatrix;
  /** `[mlpWidth, hidden]` */
  up: LayerMatrix;
  /** `[hidden, mlpWidth]` */
  down: LayerMatrix;
}

/** A matrix of low rank, the product b a, that is added to another. */
export interface LowRank {
  /** `[rank, inputs]` */
  a: Float32Array;
  /** `[outputs, rank]` */
  b: Float32Array;
}

/** Low-rank updates (LoRA) of the matrices of queries, keys and values; omitted ones stay as they are. */
export interface LowRankQkv {
  /** Rank of the matrices, from 1 to `hidden`. */
  rank: number;
  /** Factor of the updates, usually alpha divided by rank. */
  scale: number;
  q?: LowRank;
  k?: LowRank;
  v?: LowRank;
}
