/** Folder to which Vite 5 to 7 move a dependency's JavaScript in development, without the files beside it. */
const VITE_FOLDER = /\/node_modules\/\.vite[^/]*\/deps[^/]*\//;

/** The URL of a file of the package, as its JavaScript names it; where Vite moved that, the place that it was moved from.
 * Other bundlers put objects in its place that are only alike. */
export function packageUrl(url: URL): URL {
  const { href } = url;
  return isMoved(href) ? new URL(href.replace(VITE_FOLDER, "/node_modules/pagepress/dist/")) : url;
}

/** Returns true if Vite moved the script at `url`. */
export function isMoved(url: string): boolean {
  return VITE_FOLDER.test(url);
}
