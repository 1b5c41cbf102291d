// The worker for tensors.
import { serve } from "../rpc/serve";
import type { TensorCalls } from "./calls";
import { convolve } from "./convolve";
import { measureMatmul } from "./multiply";

serve<TensorCalls>({ matmul: measureMatmul, convolve });
