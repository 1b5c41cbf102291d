// Tests of the tab "GPU compute".
import { strict as assert } from "node:assert";
import { check, finding, openTab } from "./harness.mjs";

export async function testGpu(label, page) {
  const hasGpu = label !== "no GPU";
  const engines = hasGpu ? ["cpu", "webgpu"] : ["cpu"];

  await check(`${label}: matrix products are measured and exact, on the GPU and on the CPU`, async () => {
    await openTab(page, "gpu");
    await page.selectOption("#matmul-most", "256");
    const { points, names, absent } = await finding(page, "matmul", () => page.click("#matmul-start"));
    for (const engine of engines) assert.equal(points.filter((point) => point.engine === engine).length, 3, JSON.stringify(points));
    assert.deepEqual(Object.keys(names).sort(), engines);
    assert.equal("webgpu" in absent, !hasGpu);
    for (const { gflops, bestGflops, error, checked } of points) {
      assert.ok(gflops > 0 && bestGflops >= gflops && error < 1e-4 && checked >= 400, JSON.stringify(points));
    }
    await page.waitForSelector("#matmul-chart canvas");
    assert.equal(await page.locator("#matmul-rows tr").count(), 3 * engines.length);
    const text = await page.locator("#matmul-text").innerText();
    assert.ok(label === "hardware GPU" ? !text.includes("software") : text.includes(hasGpu ? "software" : "Not available"), text);
  });

  await check(`${label}: operations are measured and exact`, async () => {
    await page.selectOption("#operations-size", "65536");
    const { points } = await finding(page, "operations", () => page.click("#operations-start"));
    assert.equal(points.length, 4 * engines.length, JSON.stringify(points));
    for (const { times, error, operation, engine } of points) assert.ok(times.median > 0 && error < 1e-4, `${operation} ${engine} ${error}`);
    assert.equal(await page.locator("#operations-rows tr").count(), 4 * engines.length);
    await openTab(page, "verify");
    assert.ok((await page.locator("#report").innerText()).includes("Matrix products"));
  });

  await check(`${label}: the flight draws tiles that it decompresses`, async () => {
    await openTab(page, "gpu");
    await page.locator("#room-points").scrollIntoViewIfNeeded();
    await page.click("#points-start");
    await page.waitForFunction(() => /\d+ tiles from/.test(document.getElementById("points-note").innerText));
    await page.waitForTimeout(1500);
    const shot = await page.locator(".points-screen").screenshot();
    const flight = await finding(page, ["flight", "failure"], () => page.click("#points-start"));
    assert.equal(flight.kind, "flight", JSON.stringify(flight));
    assert.ok(flight.name.startsWith(hasGpu ? "GPU" : "CPU") && flight.tiles >= 7 && flight.frames > 1, JSON.stringify(flight));
    assert.ok(flight.readBytes > 0 && flight.fileBytes < flight.contentBytes);
    // A black picture of this size takes a few hundred bytes.
    assert.ok(shot.length > 20_000, `a picture of ${shot.length} bytes`);
  });

  await check(`${label}: TensorFlow.js takes part when asked`, async () => {
    await openTab(page, "gpu");
    await page.check("#matmul-tfjs");
    const { points, absent } = await finding(page, "matmul", () => page.click("#matmul-start"));
    const theirs = points.filter(({ engine }) => engine === "tfjs");
    assert.ok(theirs.length > 0 && theirs.every(({ error }) => error < 1e-4), JSON.stringify({ points, absent }));
    await page.uncheck("#matmul-tfjs");
  });
}
