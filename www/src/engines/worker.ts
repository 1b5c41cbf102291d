// The worker that benchmarks one engine. The page terminates it when the benchmark ends or is cancelled, which stops
// engines without support for cancellation and frees their memory.
import { serve } from "../rpc/serve";
import { bench } from "./bench";
import type { EngineCalls } from "./calls";

serve<EngineCalls>({ bench });
