import type { Glue } from "./glue.js";

declare const init: Glue["default"];
export default init;
export declare const Codec: Glue["Codec"];
export declare const frameHeader: Glue["frameHeader"];
export declare const ContentSum: Glue["ContentSum"];
export declare const compressSync: Glue["compressSync"];
export declare const decompressSync: Glue["decompressSync"];
export declare const notLz4: Glue["notLz4"];
export declare const FrameMap: Glue["FrameMap"];
