// The worker of one engine in a race. The page terminates it when the race ends or is cancelled, which stops engines
// without support for cancellation and frees their memory.
import { serve } from "../rpc/serve";
import { close, open, round } from "./bench";
import type { EngineCalls } from "./calls";

serve<EngineCalls>({ open, round, close });
