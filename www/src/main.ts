// Initialises all parts of the page.
import { initCompress } from "./compress/panel";
import { initMatmul } from "./gpu/matmul";
import { initOperations } from "./gpu/operations";
import { initInspector } from "./inspect/inspector";
import { initMap } from "./inspect/map";
import { showStages } from "./inspect/stages";
import { initSweep } from "./inspect/sweep";
import { initCode, initInstall } from "./learn/code";
import { initLearn } from "./learn/pictures";
import { initRace, onRace, startFirstRace } from "./race/panel";
import { element } from "./shell/dom";
import { initJobs } from "./shell/jobs";
import { keepOffline } from "./shell/offline";
import { initTabs, onTab } from "./shell/tabs";
import { initTheme } from "./shell/theme";
import { initBadge, openEngine } from "./verify/badge";
import { initFaults } from "./verify/faults";
import { initReport } from "./verify/report";

/** Applies the query of the address, which may choose an engine: `?backend=webgpu&allow-software`. */
function applyQuery(query: URLSearchParams): void {
  const asked = query.get("backend");
  if (asked === "webgpu" || asked === "cpu") element<HTMLSelectElement>("backend").value = asked;
  element<HTMLInputElement>("allow-software").checked = query.has("allow-software");
}

const query = new URLSearchParams(location.search);
applyQuery(query);
initTheme();
initJobs();
initInstall();
initRace();
initCompress();
initMap();
initSweep();
initInspector();
initBadge();
initFaults();
initReport();
initMatmul();
initOperations();
initCode();
initLearn();
onTab("inspect", showStages);
onRace(showStages);
initTabs();
keepOffline();

// Delayed until after the first paint, since they load WebAssembly and open a device.
requestAnimationFrame(() =>
  setTimeout(() => {
    void openEngine().then(() => query.get("race") !== "off" && startFirstRace());
  }),
);
