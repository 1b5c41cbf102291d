// Tests of the tab "Tensors".
import { strict as assert } from "node:assert";
import { check, finding } from "./harness.mjs";

export async function testTensors(label, page) {
  const hasGpu = label !== "no GPU";
  await testProducts(label, page, hasGpu);
  await testConvolution(label, page, hasGpu);
}

async function testProducts(label, page, hasGpu) {
  await check(`${label}: matrix products are measured and exact`, async () => {
    await page.click("#tab-tensor");
    await page.selectOption("#matmul-most", "256");
    const { points, device, withoutGpu } = await finding(page, "matmul", () => page.click("#matmul-start"));
    const of = (engine) => points.filter((point) => point.engine === engine);
    assert.equal(of("javascript").length, 3, JSON.stringify(points));
    assert.equal(of("webgpu").length, hasGpu ? 3 : 0, JSON.stringify(points));
    assert.equal(withoutGpu === null && device !== null, hasGpu);
    for (const { gflops, error, checked } of points) {
      assert.ok(gflops > 0 && error < 1e-4 && checked >= 400, JSON.stringify(points));
    }
    await page.waitForSelector("#matmul-chart canvas");
    assert.equal(await page.locator("#matmul-rows tr").count(), 3);
    assert.ok((await page.locator("#matmul-text").innerText()).includes(hasGpu ? "software" : "No GPU"));
  });
}

async function testConvolution(label, page, hasGpu) {
  await check(`${label}: a convolution runs until it is stopped, and is exact`, async () => {
    for (const kernel of ["edges", "blur"]) {
      await page.selectOption("#convolve-kernel", kernel);
      const run = async () => {
        await page.click("#convolve-start");
        await page.waitForFunction(() => document.getElementById("convolve-text").innerText.includes("images per second"));
        await page.click("#convolve-start");
      };
      const found = await finding(page, ["convolution", "failure"], run);
      assert.ok(found.images >= 1 && found.error < 1e-4, JSON.stringify(found));
      assert.equal(found.isGpu, hasGpu, found.where);
      const isDrawn = await page.evaluate(() => {
        const canvas = document.getElementById("convolve-out");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(data).size > 10;
      });
      assert.ok(isDrawn, "nothing was drawn");
      await page.evaluate(() => (document.getElementById("convolve-text").textContent = ""));
    }
  });

  await check(`${label}: leaving the tab stops the convolution`, async () => {
    const found = await finding(page, "convolution", async () => {
      await page.click("#convolve-start");
      await page.waitForFunction(() => document.getElementById("convolve-text").innerText.includes("images per second"));
      await page.click("#tab-trust");
    });
    assert.ok(found.images >= 1);
    assert.ok((await page.locator("#report").innerText()).includes("Matrix products"));
  });

  await check(`${label}: a camera that is missing or not allowed is an error`, async () => {
    await page.click("#tab-tensor");
    await page.selectOption("#convolve-source", "camera");
    const failure = await finding(page, "failure", () => page.click("#convolve-start"));
    assert.match(failure.code, /NotFoundError|NotAllowedError/);
    await page.selectOption("#convolve-source", "generated");
    assert.equal(await page.locator("#convolve-start").innerText(), "Start");
  });
}
