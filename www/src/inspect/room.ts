// The tab "Inspect".
import { onRace } from "../race/panel";
import { onTab } from "../shell/tabs";
import { initInspector } from "./inspector";
import { initMap } from "./map";
import { showStages } from "./stages";
import { initSweep } from "./sweep";

export function mount(): void {
  initMap();
  initSweep();
  initInspector();
  onTab("inspect", showStages);
  onRace(showStages);
}
