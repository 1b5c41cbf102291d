// The tab "GPU compute".
import { initMatmul } from "./matmul";
import { initOperations } from "./operations";

export function mount(): void {
  initMatmul();
  initOperations();
}
