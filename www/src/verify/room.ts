// The tab "Verify".
import { initFaults } from "./faults";
import { initReport } from "./report";

export function mount(): void {
  initFaults();
  initReport();
}
