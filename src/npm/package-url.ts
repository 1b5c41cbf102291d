/** Where Vite 5 to 7 put a dependency's JavaScript in development, without the files beside it. */
const VITE_FOLDER = /\/node_modules\/\.vite[^/]*\/deps[^/]*\//;

/** The URL of a file of the package, by what its JavaScript says; where Vite moved that, the place that it was moved from. */
export function packageUrl(url: URL): URL {
  return new URL(url.href.replace(VITE_FOLDER, "/node_modules/pagepress/dist/"));
}
