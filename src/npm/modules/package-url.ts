/** Folder to which Vite 5 to 7 move the JavaScript of a dependency in development, without the files beside it. */
const VITE_FOLDER = /\/node_modules\/\.vite[^/]*\/deps[^/]*\//;

/** Returns the URL of a file of the package. If Vite moved the JavaScript that constructed `url`, returns the URL at the
 * original location. Other bundlers replace `url` by objects that only resemble a `URL`, which are returned unchanged. */
export function packageUrl(url: URL): URL {
  const { href } = url;
  return isMoved(href) ? new URL(href.replace(VITE_FOLDER, "/node_modules/pagepress/dist/")) : url;
}

/** Returns true if Vite moved the script at `url`. */
export function isMoved(url: string): boolean {
  return VITE_FOLDER.test(url);
}
