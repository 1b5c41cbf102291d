// Entry points of the compute pipelines that this page has created.

const entryPoints = new Set();

/** Records the entry points from now on, where there is WebGPU. */
function record(device) {
  for (const method of ["createComputePipeline", "createComputePipelineAsync"]) {
    const create = device[method];
    device[method] = function (descriptor) {
      entryPoints.add(descriptor.compute.entryPoint);
      return create.call(this, descriptor);
    };
  }
}

if (globalThis.GPUDevice) record(GPUDevice.prototype);

/** Returns the shaders, names of files, whose entry point no pipeline had. */
export const missingOf = (shaders) => shaders.filter((name) => !entryPoints.has(name.replace(".wgsl", "")));
