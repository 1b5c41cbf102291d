// Adds the tags from which other sites make a preview of a link: title, text and picture.
import { readFileSync } from "node:fs";

/** `picture` is the URL of the picture. `PAGE_URL`, the address of the page, makes its address absolute, as most sites require. */
export function preview(picture) {
  const fileName = "preview.webp";
  const base = process.env.PAGE_URL ?? "./";
  const tags = {
    "og:type": "website",
    "og:title": "Pagepress: LZ4 in your browser",
    "og:description": "Race LZ4 on your GPU and CPU against other packages, on your own data. No data leaves your machine.",
    "og:image": new URL(fileName, process.env.PAGE_URL ?? "file:///").href.replace("file:///", base),
    ...(process.env.PAGE_URL ? { "og:url": base } : {}),
  };
  return {
    name: "preview",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName, source: readFileSync(picture) });
    },
    transformIndexHtml: () => [
      ...Object.entries(tags).map(([property, content]) => ({ tag: "meta", attrs: { property, content } })),
      { tag: "meta", attrs: { name: "twitter:card", content: "summary_large_image" } },
    ],
  };
}
