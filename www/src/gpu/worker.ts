// The worker of one engine for tensors.
import { serve } from "../rpc/serve";
import type { TensorCalls } from "./calls";
import { open, operate, product } from "./rounds";

serve<TensorCalls>({ open, product, operate });
