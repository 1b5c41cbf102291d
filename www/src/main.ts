// Initialises all parts of the page.
import { initCompress } from "./compress/panel";
import { initInstall } from "./learn/install";
import { initRace, startFirstRace } from "./race/panel";
import { initRooms } from "./rooms";
import { element } from "./shell/dom";
import { initJobs } from "./shell/jobs";
import { keepOffline } from "./shell/offline";
import { initTabs } from "./shell/tabs";
import { initTheme } from "./shell/theme";
import { initShare } from "./share/buttons";
import { applyState } from "./share/state";
import { initBadge, openEngine } from "./verify/badge";

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
initBadge();
initRooms();
initShare();
initTabs();
applyState();
keepOffline();

// Delayed until after the first paint, since they load WebAssembly and open a device.
requestAnimationFrame(() =>
  setTimeout(() => {
    void openEngine().then(() => query.get("race") !== "off" && startFirstRace());
  }),
);
