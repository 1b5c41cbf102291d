//! [`Encoding`]: a command encoder whose compute pass stays open from launch to launch.

/// Commands that are encoded. Drivers start each pass as a command buffer of its own, which costs more than a launch, so launches
/// without timestamps share one.
#[derive(Debug)]
pub(super) struct Encoding {
    /// Dropped before the encoder, which a pass locks.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: wgpu::CommandEncoder,
}

impl Encoding {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let descriptor = wgpu::CommandEncoderDescriptor::default();
        Self {
            pass: None,
            encoder: device.create_command_encoder(&descriptor),
        }
    }

    /// Returns the open pass, which is begun if there is none.
    pub(super) fn pass(&mut self) -> &mut wgpu::ComputePass<'static> {
        self.pass.get_or_insert_with(|| {
            let descriptor = wgpu::ComputePassDescriptor::default();
            self.encoder
                .begin_compute_pass(&descriptor)
                .forget_lifetime()
        })
    }

    /// Ends the pass, if one is open, and returns the encoder.
    pub(super) fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        &mut self.encoder
    }

    pub(super) fn finish(mut self) -> wgpu::CommandBuffer {
        self.pass = None;
        self.encoder.finish()
    }
}
