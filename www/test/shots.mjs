// Takes the screenshots in `docs`: node www/test/shots.mjs [--hardware] [FOLDER]. With a folder it takes all screenshots, also as
// PNG. With --hardware it uses the GPU of this machine for all of them.
//
// Needs the built page in `www/dist`.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../scripts/process.mjs";
import { serve } from "../../scripts/serve.mjs";
import { launch } from "../../tests/browser/harness/chromium.mjs";
import { finding, findings, open, openOptions, openTab } from "./harness.mjs";
import { pictures } from "./pictures.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { hardware: { type: "boolean" } } });
const [folder] = positionals;
const out = path.resolve(folder ?? path.join(root, "docs"));
mkdirSync(out, { recursive: true });
/** The file of each picture. On a GPU, one tour shows all tabs. */
const files = values.hardware ? { ...pictures, "light-gpu": pictures["gpu-gpu"] } : pictures;

/** Saves a screenshot as scaled-down WebP. */
async function shoot(page, name, { part } = {}) {
  if (!folder && !files[name]) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(500);
  const options = { animations: "disabled" };
  const shot = part ? await page.locator(part).screenshot(options) : await page.screenshot({ ...options, fullPage: true });
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const scale = Math.min(1, (image.width < 1000 ? 520 : 900) / image.width);
    const canvas = new OffscreenCanvas(image.width * scale, image.height * scale);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.75 });
    const url = await new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(blob);
    });
    return url.split(",")[1];
  }, shot.toString("base64"));
  await blank.close();
  writeFileSync(path.join(out, `${folder ? name : files[name]}.webp`), Buffer.from(webp, "base64"));
  if (folder) writeFileSync(path.join(out, `${name}.png`), shot);
}

/** Loads the rooms of the open tab. */
async function showRooms(page) {
  for (const room of await page.locator(".room").all()) {
    if (!(await room.isVisible())) continue;
    await room.scrollIntoViewIfNeeded();
    await page.waitForTimeout(500);
  }
}

/** Uses all parts of the page and takes their screenshots. */
async function tour(gpu, label, options, { query = "", bits = "24", sweep = "24", rows = "1024" }) {
  const browser = await launch(gpu);
  const server = await serve(path.join(root, "www/dist"));
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await open(context, server.url + query);
  await shoot(page, `${label}-start`);
  await openOptions(page);
  await page.fill("#sample-size", bits);
  await page.evaluate(() => (document.getElementById("options").open = false));
  await finding(page, "bench", () => page.click("#generate"));
  await showRooms(page);
  await page.click("#machine-freeze");
  await page.click("#machine-run");
  await page.waitForTimeout(3000);
  await page.click("#machine-run");
  await finding(page, "frozen", () => page.click("#machine-freeze"));
  await shoot(page, `${label}-compress`);
  await findings(page, ["map", "page"], () => openTab(page, "inspect"), 2);
  await page.selectOption("#sweep-most", sweep);
  await finding(page, "sweep", () => page.click("#sweep-start"));
  await finding(page, "inspected", () => page.click("#inspect-made"));
  await showRooms(page);
  await finding(page, "part", () => page.click("#part-own"));
  await shoot(page, `${label}-inspect`);
  await openTab(page, "verify");
  await finding(page, "corrupt", () => page.click("#corrupt-start"));
  await finding(page, ["loss", "cancel", "failure"], () => page.click("#lose-start"));
  await finding(page, "cancel", () => page.click("#cancel-start"));
  await shoot(page, `${label}-verify`);
  await openTab(page, "gpu");
  await page.selectOption("#matmul-most", rows);
  await finding(page, "matmul", () => page.click("#matmul-start"));
  await finding(page, "operations", () => page.click("#operations-start"));
  await showRooms(page);
  await page.selectOption("#cuda-example", "mandelbrot");
  await finding(page, "translation", () => page.click("#cuda-translate"));
  await finding(page, ["cuda", "failure"], () => page.click("#cuda-run"));
  await page.click("#points-start");
  await page.waitForTimeout(5000);
  await shoot(page, `${label}-gpu`);
  await finding(page, "flight", () => page.click("#points-start"));
  await finding(page, "learn", () => openTab(page, "learn"));
  await showRooms(page);
  await finding(page, "program", () => page.click("#program-run"));
  await shoot(page, `${label}-learn`);
  await browser.close();
  await server.close();
}

const wide = { viewport: { width: 1280, height: 860 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const gpu = values.hardware ? "hardware" : "none";
await tour(gpu, "light", wide, {});
await tour(gpu, "dark", { ...wide, colorScheme: "dark" }, {});
await tour(gpu, "phone", phone, { bits: "22", sweep: "20" });
if (!values.hardware) await tour("software", "gpu", wide, { query: "?allow-software&backend=webgpu", bits: "20", sweep: "20", rows: "256" });
