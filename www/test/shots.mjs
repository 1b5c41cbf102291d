// Takes the pictures of the page that are in `docs`: node www/test/shots.mjs. Needs the built page in `www/dist`.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/process.mjs";
import { serve } from "../../scripts/serve.mjs";
import { launch } from "../../tests/browser/harness/chromium.mjs";
import { finding, findings, open } from "./harness.mjs";

const out = path.resolve(process.argv[2] ?? path.join(root, "docs"));
mkdirSync(out, { recursive: true });

/** Saves what is to be seen as WebP, which browsers write better than they write PNG. */
async function shoot(page, name, fullPage = true) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(400);
  const png = (await page.screenshot({ fullPage, animations: "disabled" })).toString("base64");
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.8 });
    const url = await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(blob);
    });
    return url.split(",")[1];
  }, png);
  await blank.close();
  writeFileSync(path.join(out, `${name}.webp`), Buffer.from(webp, "base64"));
  if (process.env.PNG) writeFileSync(path.join(out, `${name}.png`), Buffer.from(png, "base64"));
}

/** Uses all of the page once, and takes its pictures. */
async function tour(gpu, label, options, { query = "", bits = "24", sweep = "24" }) {
  const browser = await launch(gpu);
  const server = await serve(path.join(root, "www/dist"));
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await open(context, server.url + query);
  await shoot(page, `${label}-start`);
  await page.fill("#sample-size", bits);
  await finding(page, "bench", () => page.click("#generate"));
  await shoot(page, `${label}-compress`);
  await findings(page, ["map", "page"], () => page.click("#tab-look"), 2);
  await page.selectOption("#sweep-most", sweep);
  await finding(page, "sweep", () => page.click("#sweep-start"));
  await finding(page, "inspected", () => page.click("#inspect-made"));
  await shoot(page, `${label}-look`);
  await page.click("#tab-trust");
  await finding(page, "corrupt", () => page.click("#corrupt-start"));
  await finding(page, ["loss", "failure"], () => page.click("#lose-start"));
  await shoot(page, `${label}-trust`);
  await finding(page, "learn", () => page.click("#tab-learn"));
  await shoot(page, `${label}-learn`);
  await browser.close();
  await server.close();
}

const wide = { viewport: { width: 1200, height: 860 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 1.5 };
const [, , , only = ""] = process.argv;
const tours = {
  light: () => tour("none", "light", wide, {}),
  dark: () => tour("none", "dark", { ...wide, colorScheme: "dark" }, {}),
  phone: () => tour("none", "phone", phone, { bits: "22", sweep: "20" }),
  gpu: () => tour("software", "gpu", wide, { query: "?allow-software&backend=webgpu", bits: "20", sweep: "20" }),
};
for (const [name, take] of Object.entries(tours)) if (name.includes(only)) await take();
