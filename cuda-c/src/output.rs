//! Validation and the writers of naga.

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use crate::error::{Fault, NO_PLACE, Outcome};
use crate::{CompiledCuda, CudaOptions, Error, Result};

/// Validates a lowered module. A failure is a defect of this crate, reported as an error.
pub(crate) fn validate(module: &naga::Module, options: &CudaOptions<'_>) -> Outcome<ModuleInfo> {
    let subgroups = options.subgroups;
    let mut capabilities = Capabilities::empty();
    if options.float16 {
        capabilities |= Capabilities::SHADER_FLOAT16 | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    }
    if options.int64 {
        capabilities |= Capabilities::SHADER_INT64;
    }
    if subgroups {
        capabilities |= Capabilities::SUBGROUP | Capabilities::SUBGROUP_BARRIER;
    }
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if subgroups {
        validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
        validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    }
    validator.validate(module).map_err(|error| {
        let mut message = error.as_inner().to_string();
        let mut source = std::error::Error::source(error.as_inner());
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        Fault {
            at: NO_PLACE,
            message: format!(
                "the compiler made an invalid module, which is a defect of it: {message}"
            ),
        }
    })
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error {
        line: 0,
        column: 0,
        message: format!("the kernel cannot be written in this language: {error}"),
    }
}

impl CompiledCuda {
    #[cfg(feature = "hlsl")]
    fn has_float16(&self) -> bool {
        let mut types = self.module.types.iter();
        types.any(|(_, ty)| ty.inner.scalar() == Some(naga::Scalar::F16))
    }

    /// Writes the kernel in WGSL.
    ///
    /// # Errors
    /// If it uses what WGSL lacks.
    pub fn wgsl(&self) -> Result<String> {
        let flags = naga::back::wgsl::WriterFlags::empty();
        naga::back::wgsl::write_string(&self.module, &self.info, flags)
            .map_err(|error| failed(&error))
    }

    /// Compiles the kernel to PTX, by way of WGSL.
    ///
    /// # Errors
    /// If it uses what WGSL or `wgsl-ptx` lacks.
    #[cfg(feature = "ptx")]
    pub fn ptx(&self) -> Result<String> {
        let compiled =
            wgsl_ptx::compile_wgsl(&self.wgsl()?, &wgsl_ptx::PtxOptions::new(&self.entry));
        Ok(compiled.map_err(|error| failed(&error))?.text)
    }

    /// Writes the kernel in SPIR-V, in words.
    ///
    /// # Errors
    /// If it uses what SPIR-V of Vulkan 1.1 lacks.
    #[cfg(feature = "spirv")]
    pub fn spirv(&self) -> Result<Vec<u32>> {
        let options = naga::back::spv::Options {
            lang_version: (1, 3),
            ..Default::default()
        };
        naga::back::spv::write_vec(&self.module, &self.info, &options, None)
            .map_err(|error| failed(&error))
    }

    /// Writes the kernel in MSL. Buffers have the index of their binding; the sizes of the buffers follow at index 30.
    ///
    /// # Errors
    /// If it uses what MSL 2.4 lacks.
    #[cfg(feature = "msl")]
    pub fn msl(&self) -> Result<String> {
        use naga::back::msl::{
            BindTarget, EntryPointResources, Options, PipelineOptions, write_string,
        };
        let mut resources = EntryPointResources {
            sizes_buffer: Some(30),
            ..Default::default()
        };
        for (_, variable) in self.module.global_variables.iter() {
            let Some(binding) = variable.binding else {
                continue;
            };
            let mutable = matches!(variable.space, naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE));
            let target = BindTarget {
                buffer: u8::try_from(binding.binding).ok(),
                mutable,
                ..Default::default()
            };
            resources.resources.insert(binding, target);
        }
        let options = Options {
            lang_version: (2, 4),
            per_entry_point_map: std::iter::once((self.entry.clone(), resources)).collect(),
            fake_missing_bindings: false,
            ..Default::default()
        };
        let (text, _) = write_string(
            &self.module,
            &self.info,
            &options,
            &PipelineOptions::default(),
        )
        .map_err(|error| failed(&error))?;
        Ok(text)
    }

    /// Writes the kernel in HLSL of shader model 6.0, or of 6.2 if it has 16-bit floats. Registers have the number of the binding.
    ///
    /// # Errors
    /// If it uses what HLSL lacks.
    #[cfg(feature = "hlsl")]
    pub fn hlsl(&self) -> Result<String> {
        use naga::back::hlsl::{Options, PipelineOptions, ShaderModel, Writer};
        let options = Options {
            shader_model: if self.has_float16() {
                ShaderModel::V6_2
            } else {
                ShaderModel::V6_0
            },
            ..Default::default()
        };
        let mut text = String::new();
        let pipeline = PipelineOptions::default();
        Writer::new(&mut text, &options, &pipeline)
            .write(&self.module, &self.info, None)
            .map_err(|error| failed(&error))?;
        Ok(text)
    }
}
