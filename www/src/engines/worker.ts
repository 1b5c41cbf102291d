// A worker that benches one engine. It is ended when that is done or cancelled: engines that know no cancelling stop, too,
// and their memory is given back.
import { serve } from "../rpc/serve";
import { bench } from "./bench";
import type { EngineCalls } from "./calls";

serve<EngineCalls>({ bench });
