// The tab "How it works".
import { initCode } from "./code";
import { initLearn } from "./pictures";

export function mount(): void {
  initCode();
  initLearn();
}
