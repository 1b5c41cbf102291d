// Initialises all parts of the page.
import { initCompress } from "./compress/panel";
import { initCode } from "./learn/code";
import { initLearn } from "./learn/pictures";
import { initInspector } from "./look/inspector";
import { initMap } from "./look/map";
import { showStages } from "./look/stages";
import { initSweep } from "./look/sweep";
import { element } from "./shell/dom";
import { initJobs } from "./shell/jobs";
import { keepOffline } from "./shell/offline";
import { onFinding } from "./shell/results";
import { initTabs, onTab } from "./shell/tabs";
import { initTheme } from "./shell/theme";
import { initConvolution } from "./tensor/convolution";
import { initMatmul } from "./tensor/matmul";
import { initBadge, openEngine } from "./trust/badge";
import { initFaults } from "./trust/faults";
import { initReport } from "./trust/report";

/** Applies the query of the address, which may choose an engine: `?backend=webgpu&allow-software`. */
function applyQuery(): void {
  const query = new URLSearchParams(location.search);
  const asked = query.get("backend");
  if (asked === "webgpu" || asked === "cpu") element<HTMLSelectElement>("backend").value = asked;
  element<HTMLInputElement>("allow-software").checked = query.has("allow-software");
}

applyQuery();
initTheme();
initJobs();
initCompress();
initMap();
initSweep();
initInspector();
initBadge();
initFaults();
initReport();
initMatmul();
initConvolution();
initCode();
initLearn();
onTab("look", showStages);
onFinding("bench", showStages);
initTabs();
keepOffline();
// Delayed until after the first paint, since it loads WebAssembly and opens a device.
requestAnimationFrame(() => setTimeout(() => void openEngine()));
