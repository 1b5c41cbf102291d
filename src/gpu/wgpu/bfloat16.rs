//! Matrices of bfloat16 on Vulkan: wgpu opens no device with `VK_KHR_shader_bfloat16`, so this module adds it.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use ash::vk;
use wgpu::hal::vulkan::{Adapter, Api};

const EXTENSION: &CStr = c"VK_KHR_shader_bfloat16";

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`.
const BFLOAT16: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`, which `ash` does not have yet.
#[repr(C)]
struct Bfloat16Features {
    structure: vk::StructureType,
    next: *mut c_void,
    has_type: vk::Bool32,
    has_dot_product: vk::Bool32,
    has_matrices: vk::Bool32,
}

impl Bfloat16Features {
    /// Returns the structure with the features that kernels of matrices need, on or off.
    fn new(are_on: bool) -> Self {
        Self {
            structure: vk::StructureType::from_raw(1_000_141_000),
            next: null_mut(),
            has_type: are_on.into(),
            has_dot_product: vk::FALSE,
            has_matrices: are_on.into(),
        }
    }
}

/// Opens a device that multiplies matrices of 16x16 bfloat16 and sums in single precision, besides what `descriptor` asks for; `None` if
/// the adapter has none, lacks a feature or a limit of the descriptor, or cannot be opened so.
pub(super) fn open(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Option<(wgpu::Device, wgpu::Queue)> {
    // SAFETY: the guard's adapter is only used to query it and to open devices; nothing here destroys it.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    let has_the_rest = adapter.features().contains(descriptor.required_features)
        && descriptor.required_limits.check_limits(&adapter.limits());
    if !has_the_rest || !has_matrices(&hal) {
        return None;
    }
    let mut added = Bfloat16Features::new(true);
    let first: *mut Bfloat16Features = &raw mut added;
    // SAFETY: the adapter has what the descriptor asks for, the extension and its features, as found above, and the callback removes
    // nothing. The structure is alive until `open_with_callback` returns, and Vulkan reads the chain of structures only during its call.
    let opened = unsafe {
        hal.open_with_callback(
            descriptor.required_features,
            &descriptor.required_limits,
            &descriptor.memory_hints,
            Some(Box::new(move |args| {
                args.extensions.push(EXTENSION);
                (*first).next = args.create_info.p_next.cast_mut();
                args.create_info.p_next = first.cast_const().cast();
            })),
        )
    };
    // SAFETY: `hal` is this adapter's own handle, and the device was opened with the features of the descriptor.
    unsafe { adapter.create_device_from_hal(opened.ok()?, descriptor) }.ok()
}

/// Returns true if an adapter's subgroups multiply matrices of 16x16 bfloat16, and sum in single precision.
fn has_matrices(adapter: &Adapter) -> bool {
    let known = adapter.physical_device_capabilities();
    let extensions = [EXTENSION, ash::khr::cooperative_matrix::NAME];
    if known.properties().api_version < vk::API_VERSION_1_3
        || !extensions.iter().all(|name| known.supports_extension(name))
    {
        return false;
    }
    let instance = adapter.shared_instance();
    let mut offered = Bfloat16Features::new(false);
    let mut features = vk::PhysicalDeviceFeatures2 {
        p_next: (&raw mut offered).cast(),
        ..vk::PhysicalDeviceFeatures2::default()
    };
    let matrices =
        ash::khr::cooperative_matrix::Instance::new(instance.entry(), instance.raw_instance());
    let device = adapter.raw_physical_device();
    // SAFETY: the device is one of this instance and has Vulkan 1.3. `offered` has the layout that the specification gives the
    // structure of its type, and outlives the call.
    unsafe {
        instance
            .raw_instance()
            .get_physical_device_features2(device, &mut features);
    }
    if offered.has_type == vk::FALSE || offered.has_matrices == vk::FALSE {
        return false;
    }
    // SAFETY: the device is one of this instance, and has the extension of this function.
    let all = unsafe { matrices.get_physical_device_cooperative_matrix_properties(device) };
    all.is_ok_and(|all| {
        all.iter().any(|one| {
            [one.m_size, one.n_size, one.k_size] == [16; 3]
                && [one.a_type, one.b_type] == [BFLOAT16; 2]
                && [one.c_type, one.result_type] == [vk::ComponentTypeKHR::FLOAT32; 2]
                && one.scope == vk::ScopeKHR::SUBGROUP
        })
    })
}
