import type { Glue } from "./glue.js";

declare const init: Glue["default"];
export default init;
export declare const Codec: Glue["Codec"];
export declare const frameHeader: Glue["frameHeader"];
export declare const ContentSum: Glue["ContentSum"];
