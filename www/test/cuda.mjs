// Tests of the kernels in CUDA C on the tab "GPU compute".
import { strict as assert } from "node:assert";
import { check, finding, openTab } from "./harness.mjs";

const EXAMPLES = ["saxpy", "reduction", "life", "mandelbrot"];

/** Replaces the kernel in the editor. */
async function write(page, text) {
  await page.locator("#cuda-editor .cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

async function openRoom(page) {
  await openTab(page, "gpu");
  await page.locator("#room-cuda").scrollIntoViewIfNeeded();
  await page.waitForSelector("#cuda-editor .cm-content");
}

const translated = (page, act) => finding(page, "translation", act);
const output = (page) => page.locator("#cuda-output").textContent();

export async function testCuda(label, page) {
  await check(`${label}: the translator of CUDA C is loaded when asked, and every example has all languages`, async () => {
    const fetched = [];
    page.on("response", (response) => response.url().includes("cuda_bg") && fetched.push(response.url()));
    await openRoom(page);
    await page.selectOption("#cuda-target", "ptx");
    await page.waitForTimeout(500);
    assert.deepEqual(fetched, []);
    await page.selectOption("#cuda-target", "wgsl");
    assert.equal((await translated(page, () => page.click("#cuda-translate"))).error, null);
    assert.equal(fetched.length, 1);
    const marks = { wgsl: "@compute", ptx: ".visible .entry", msl: "kernel void", hlsl: "[numthreads(" };
    for (const example of EXAMPLES) {
      if (example !== "saxpy") assert.equal((await translated(page, () => page.selectOption("#cuda-example", example))).error, null);
      for (const [target, mark] of Object.entries(marks)) {
        if ((await page.inputValue("#cuda-target")) !== target) await translated(page, () => page.selectOption("#cuda-target", target));
        assert.ok((await output(page)).includes(mark), `${example}, ${target}: ${await output(page)}`);
      }
    }
  });

  await check(`${label}: a kernel in CUDA C is translated as it is typed, with errors at their line`, async () => {
    await translated(page, () => page.selectOption("#cuda-example", "saxpy"));
    await translated(page, () => page.selectOption("#cuda-target", "wgsl"));
    const wrong = "__global__ void saxpy(int n, float a, const float *x, float *y) {\n  int i = threadIdx.x;\n  if (i < n) y[i] = nothing;\n}\nint main() { return 0; }\n";
    const { error } = await translated(page, () => write(page, wrong));
    assert.equal(error.code, "KERNEL_COMPILE");
    assert.match(await page.locator("#cuda-status").innerText(), /^Line 3, column 21: .*nothing/);
    assert.equal(await page.locator("#cuda-editor .cm-lintRange-error").count(), 1);
    assert.equal((await translated(page, () => write(page, wrong.replace("nothing", "77.0f * a")))).error, null);
    assert.match(await output(page), /77/);
    assert.match(await page.locator("#cuda-status").innerText(), /^Translated to WGSL in .* Line 5:/);
    assert.equal(await page.locator("#cuda-editor .cm-lintRange-error").count(), 0);
  });
}

/** Tests the examples on a GPU. */
export async function testCudaRuns(label, page) {
  for (const example of EXAMPLES) {
    await check(`${label}: the example ${example} in CUDA C equals JavaScript`, async () => {
      await openRoom(page);
      const other = EXAMPLES[(EXAMPLES.indexOf(example) + 1) % EXAMPLES.length];
      await page.selectOption("#cuda-example", other);
      await page.selectOption("#cuda-example", example);
      const run = await finding(page, ["cuda", "failure"], () => page.click("#cuda-run"));
      assert.ok(run.kind === "cuda" && run.isRight && run.milliseconds > 0 && run.checked > 1000, JSON.stringify(run));
      if (example !== "mandelbrot") assert.equal(run.different, 0);
      assert.match(await page.locator("#cuda-result").innerText(), /elements equal those of JavaScript/);
      const isDrawn = ["life", "mandelbrot"].includes(example);
      assert.equal(await page.locator("#room-cuda canvas").isVisible(), isDrawn);
      if (!isDrawn) return;
      const colours = await page.locator("#room-cuda canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
      assert.ok(colours >= (example === "life" ? 2 : 30), `${colours} colours`);
    });
  }

  await check(`${label}: a run of a kernel in CUDA C can be cancelled, and the next one works`, async () => {
    await page.selectOption("#cuda-example", "life");
    await finding(page, "cancelled", async () => {
      await page.click("#cuda-run");
      await page.waitForSelector("#jobs:not([hidden])");
      await page.keyboard.press("Escape");
    });
    assert.equal((await translated(page, () => page.click("#cuda-translate"))).error, null);
    const run = await finding(page, ["cuda", "failure"], () => page.click("#cuda-run"));
    assert.ok(run.kind === "cuda" && run.isRight, JSON.stringify(run));
  });

  await check(`${label}: a wrong kernel in CUDA C gives a wrong result, and other parameters an error`, async () => {
    const kernel = "__global__ void saxpy(int n, float a, const float *x, float *y) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = a * x[i] - y[i];\n}\n";
    await page.selectOption("#cuda-example", "saxpy");
    await write(page, kernel);
    const run = await finding(page, ["cuda", "failure"], () => page.locator("#cuda-editor .cm-content").press("ControlOrMeta+Enter"));
    assert.ok(run.kind === "cuda" && !run.isRight && run.different > 1000, JSON.stringify(run));
    assert.match(await page.locator("#cuda-result").innerText(), /Wrong result/);
    await write(page, kernel.replace("int n, float a", "float a, int n"));
    const other = await finding(page, ["cuda", "failure"], () => page.click("#cuda-run"));
    assert.deepEqual([other.kind, other.code], ["failure", "INVALID_ARGUMENT"], JSON.stringify(other));
    await openTab(page, "verify");
    assert.match(await page.locator("#report").innerText(), /SAXPY in CUDA C on .* elements equal/);
  });
}

/** Tests that the reason is shown where there is no GPU. */
export async function testCudaWithoutGpu(label, page) {
  await check(`${label}: without a GPU a kernel in CUDA C is not run, and the reason is shown`, async () => {
    await openRoom(page);
    const failure = await finding(page, ["cuda", "failure"], () => page.click("#cuda-run"));
    assert.equal(failure.code, "BACKEND_UNAVAILABLE", JSON.stringify(failure));
    assert.match(await page.locator("#cuda-result").innerText(), /^Not available: /);
  });
}
