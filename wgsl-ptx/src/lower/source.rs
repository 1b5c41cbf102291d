//! Parsing and validation with naga, and errors with their location in the source.

use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::ModuleInfo;
use naga::{EntryPoint, Module, ShaderStage, Span};

use crate::front::{located, parse, with_causes};
use crate::{Error, PtxOptions, Result};

/// A validated source.
pub(super) struct Source {
    /// The module as written: with all bindings.
    pub(super) written: Module,
    /// The module reduced to the entry point, with override constants resolved.
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    entry_index: usize,
}

impl Source {
    pub(super) fn read(wgsl: &str, options: &PtxOptions<'_>) -> Result<Self> {
        let error = |span, message: String| error_at(wgsl, options.entry, span, message);
        let (written, info) = parse(wgsl).map_err(|message| Error::KernelCompile {
            kernel: options.entry.to_owned(),
            message,
        })?;
        check_entry(&written, options)?;
        check_overrides(&written).map_err(|span| error(span, UNNAMED.to_owned()))?;
        let constants = options
            .overrides
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect();
        let entry = Some((ShaderStage::Compute, options.entry));
        let (module, info) =
            process_overrides(&written, &info, entry, &constants).map_err(|e| {
                let (span, message) = explain(&written, &e);
                error(span, message)
            })?;
        let (module, info) = (module.into_owned(), info.into_owned());
        let entry_index = module
            .entry_points
            .iter()
            .position(|entry| entry.name == options.entry && entry.stage == ShaderStage::Compute)
            .ok_or_else(|| no_entry(&module, options))?;
        Ok(Self {
            written,
            module,
            info,
            entry_index,
        })
    }

    pub(super) fn entry_point(&self) -> &EntryPoint {
        &self.module.entry_points[self.entry_index]
    }

    pub(super) fn entry_info(&self) -> &naga::valid::FunctionInfo {
        self.info.get_entry_point(self.entry_index)
    }
}

/// Returns location and message of an error of override constants.
fn explain(module: &Module, error: &PipelineConstantError) -> (Span, String) {
    let key = |constant: &naga::Override| match (constant.id, &constant.name) {
        (Some(id), _) => Some(id.to_string()),
        (None, name) => name.clone(),
    };
    let PipelineConstantError::MissingValue(missing) = error else {
        return (Span::UNDEFINED, with_causes(error));
    };
    let mut overrides = module.overrides.iter();
    let found = overrides.find(|(_, constant)| key(constant).as_ref() == Some(missing));
    let Some((handle, constant)) = found else {
        return (Span::UNDEFINED, with_causes(error));
    };
    let name = constant.name.as_deref().unwrap_or_default();
    let message = format!("override constant {name} has no default: give a value for {missing:?}");
    (module.overrides.get_span(handle), message)
}

const UNNAMED: &str = "an array's size is computed from override constants before this one: give that size a name, as an \
                       override constant of its own";

/// Finds an override constant that follows one without a name: naga panics on resolving it.
fn check_overrides(module: &Module) -> Result<(), Span> {
    let mut overrides = module.overrides.iter();
    if overrides.any(|(_, constant)| constant.name.is_none())
        && let Some((after, _)) = overrides.next()
    {
        return Err(module.overrides.get_span(after));
    }
    Ok(())
}

fn check_entry(module: &Module, options: &PtxOptions<'_>) -> Result<()> {
    let is_entry = |e: &EntryPoint| e.name == options.entry && e.stage == ShaderStage::Compute;
    if module.entry_points.iter().any(is_entry) {
        return Ok(());
    }
    Err(no_entry(module, options))
}

fn no_entry(module: &Module, options: &PtxOptions<'_>) -> Error {
    let names: Vec<&str> = module
        .entry_points
        .iter()
        .filter(|entry| entry.stage == ShaderStage::Compute)
        .map(|entry| entry.name.as_str())
        .collect();
    let message = match names.as_slice() {
        [] => "the source has no @compute function".to_owned(),
        names => format!(
            "no @compute function of this name; there are: {}",
            names.join(", ")
        ),
    };
    error_at("", options.entry, Span::UNDEFINED, message)
}

/// Returns an error of the kernel `entry`, with its location if there is one.
pub(super) fn error_at(
    wgsl: &str,
    entry: &str,
    span: Span,
    message: impl std::fmt::Display,
) -> Error {
    Error::KernelCompile {
        kernel: entry.to_owned(),
        message: located(wgsl, span, message),
    }
}
