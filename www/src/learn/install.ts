// The commands that install the package.
import { copyable, element } from "../shell/dom";

/** Shows the commands that install the package, on the first screen. */
export function initInstall(): void {
  element("install").replaceChildren(
    copyable("npm install pagepress", "the command that installs the npm package"),
    copyable("cargo add pagepress", "the command that adds the crate"),
  );
}
