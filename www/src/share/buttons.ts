// The buttons that share a race: its link, and its picture.
import { newestRace, onRace } from "../race/panel";
import { copyText, element } from "../shell/dom";
import { save } from "./save";
import { stateLink } from "./state";

async function savePicture(button: HTMLButtonElement): Promise<void> {
  const race = newestRace();
  if (!race) return;
  button.disabled = true;
  const { drawCard } = await import("./picture");
  save(await drawCard(race), "pagepress-race.png");
  button.disabled = false;
}

export function initShare(): void {
  const [link, picture] = [element("copy-link"), element<HTMLButtonElement>("save-picture")];
  link.addEventListener("click", () => void copyText(stateLink(), link));
  picture.addEventListener("click", () => void savePicture(picture));
  onRace(() => (picture.disabled = false));
}
