// The parts of the page that are loaded when they are first seen.
import { failureOf } from "./rpc/client";
import { element, failureCard } from "./shell/dom";

/** A module of a part; `at` is the element that it fills. */
interface Room {
  mount(at: HTMLElement): void | Promise<void>;
}

/** The parts by the id of their element. */
const rooms: Record<string, () => Promise<Room>> = {
  "room-freeze": () => import("./machine/room"),
  "room-machines": () => import("./machines/room"),
  "panel-inspect": () => import("./inspect/room"),
  "room-parts": () => import("./parts/room"),
  "panel-verify": () => import("./verify/room"),
  "panel-gpu": () => import("./gpu/room"),
  "room-cuda": () => import("./cuda/room"),
  "room-points": () => import("./points/room"),
  "panel-learn": () => import("./learn/room"),
  "room-playground": () => import("./playground/room"),
};

/** How far below the visible part of the page a room is loaded. */
const AHEAD = "200px";
/** Events after which the visitor uses the page. */
const USES = ["pointerdown", "keydown", "wheel", "scroll", "touchstart"];

/** Loads and mounts a room, which is busy and inert until then. */
async function mount(id: string): Promise<void> {
  const at = element(id);
  try {
    await (await rooms[id]?.())?.mount(at);
  } catch (error) {
    at.prepend(failureCard({ ...failureOf(error), code: "NOT_LOADED" }));
  }
  at.ariaBusy = "false";
  at.inert = false;
}

export function initRooms(): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        void mount(target.id);
      }
    },
    { rootMargin: AHEAD },
  );
  const places = Object.keys(rooms).map((id) => element(id));
  for (const at of places) {
    at.ariaBusy = "true";
    at.inert = true;
  }
  const isPanel = ({ id }: HTMLElement): boolean => id.startsWith("panel-");
  // Tabs are loaded when they are opened. Other rooms may be in view on a tall screen: they wait for the first use, so that
  // the first paint and the first race have the machine for themselves.
  places.filter(isPanel).forEach((at) => observer.observe(at));
  const begin = (): void => {
    for (const use of USES) removeEventListener(use, begin);
    places.filter((at) => !isPanel(at)).forEach((at) => observer.observe(at));
  };
  for (const use of USES) addEventListener(use, begin, { passive: true });
}
