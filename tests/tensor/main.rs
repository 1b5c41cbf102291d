//! One suite of tensor operations for the CPU and every engine: results are compared with plain loops in double
//! precision, within the tolerances of `tolerance.rs`. On wasm32 it runs in a browser, on the CPU and on WebGPU.
//!
//! If CUDA finds no GPU, its tests are ignored, or fail if `PAGEPRESS_REQUIRE_CUDA` is set.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod attention;
mod attention_window;
mod calls;
#[path = "../common/mod.rs"]
mod common;
#[cfg(not(target_arch = "wasm32"))]
mod devices;
mod elementwise;
mod epilogues;
mod errors;
#[cfg(not(target_arch = "wasm32"))]
mod gguf;
mod half_attention;
mod half_decode;
mod half_passes;
mod half_products;
mod halves;
mod handles;
#[cfg(not(target_arch = "wasm32"))]
mod layer;
#[cfg(not(target_arch = "wasm32"))]
mod layer_model;
#[cfg(not(target_arch = "wasm32"))]
mod layer_weights;
#[cfg(not(target_arch = "wasm32"))]
mod llama;
mod naive;
mod norm;
mod numpy;
#[cfg(not(target_arch = "wasm32"))]
mod parts;
mod products;
#[cfg(not(target_arch = "wasm32"))]
mod properties;
mod quantized;
mod reduce;
mod rotary;
mod softmax;
#[cfg(not(target_arch = "wasm32"))]
mod stored;
mod subject;
#[cfg(not(target_arch = "wasm32"))]
mod surfaces;
mod tf32_products;
mod tolerance;
#[cfg(not(target_arch = "wasm32"))]
mod twins;
mod unpacked_products;
mod views;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    let outcome = common::harness::run();
    common::devices::close();
    outcome
}

/// Does nothing: the runner of wasm-bindgen calls the exported tests.
#[cfg(target_arch = "wasm32")]
fn main() {}

/// Defines the tests of lists of cases for one way to open an engine: cases that browsers run too, cases that they leave to native tests, since
/// SwiftShader takes tens of seconds to compile their kernels or others run them there, and blocking cases.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! suite {
    ($name:ident, $subject:expr, [$($test:ident :: $case:ident),* $(,)?], $(native [$($native_test:ident :: $native:ident),* $(,)?],)? [$($sync_test:ident :: $sync:ident),* $(,)?]) => {
        mod $name {
            use pagepress::gpu::runtime::block_on;
            use pagepress_test_harness::test;
            $(
                #[test]
                fn $case() {
                    block_on(async {
                        for subject in $subject.iter() {
                            crate::$test::$case(subject).await;
                        }
                    });
                }
            )*
            $($(
                #[test]
                fn $native() {
                    block_on(async {
                        for subject in $subject.iter() {
                            crate::$native_test::$native(subject).await;
                        }
                    });
                }
            )*)?
            $(
                #[test]
                fn $sync() {
                    block_on(async { $subject }).iter().for_each(crate::$sync_test::$sync);
                }
            )*
        }
    };
}

/// Defines the tests for a browser.
#[cfg(target_arch = "wasm32")]
macro_rules! suite {
    ($name:ident, $subject:expr, [$($test:ident :: $case:ident),* $(,)?], $(native [$($native_test:ident :: $native:ident),* $(,)?],)? [$($sync_test:ident :: $sync:ident),* $(,)?]) => {
        mod $name {
            // The native cases are compiled here too.
            $($(const _: () = { let _ = crate::$native_test::$native; };)*)?
            $(
                #[pagepress_test_harness::wasm_bindgen_test]
                async fn $case() {
                    for subject in $subject.iter() {
                        crate::$test::$case(subject).await;
                    }
                }
            )*
        }
    };
}

macro_rules! every_case {
    ($name:ident, $subject:expr) => {
        suite!(
            $name,
            $subject,
            [
                elementwise::steps_are_what_they_say,
                elementwise::special_values_are_as_documented,
                elementwise::logarithms_near_one_keep_their_digits,
                elementwise::any_length_works,
                elementwise::chains_are_their_steps_in_turn,
                numpy::steps_are_those_of_numpy,
                numpy::reductions_are_those_of_numpy,
                numpy::rows_are_those_of_numpy,
                numpy::products_are_those_of_numpy,
                numpy::attention_is_that_of_numpy,
                numpy::halves_are_rounded_as_by_numpy,
                reduce::lengths_of_any_kind_reduce,
                reduce::any_axes_work,
                reduce::nan_wins_wherever_it_is,
                reduce::sums_are_the_same_each_time,
                softmax::rows_of_any_length_work,
                softmax::special_rows_are_as_documented,
                products::matrices_of_any_size_work,
                products::batches_extend_to_each_other,
                products::matrices_of_large_buffers_work,
                epilogues::epilogues_of_any_size_work,
                epilogues::epilogues_of_special_numbers_are_as_documented,
                epilogues::epilogues_of_batches_and_vectors_work,
                epilogues::epilogues_on_matrix_units_are_those_of_f32,
                epilogues::epilogues_in_batches_give_the_same,
                epilogues::wrong_epilogues_are_typed_errors,
                products::pictures_and_kernels_of_any_size_work,
                products::nan_beside_a_kernel_stays_outside,
                views::operands_extend_to_each_other,
                views::views_are_what_they_show,
                norm::rows_of_any_length_are_normalised,
                norm::special_rows_are_normalised,
                rotary::heads_of_any_size_are_rotated,
                rotary::views_are_rotated_as_they_are,
                rotary::wrong_turns_are_typed_errors,
                attention::heads_of_any_size_work,
                attention::many_heads_work,
                attention::many_keys_are_split,
                attention::keys_that_are_not_seen_do_not_matter,
                attention::views_are_taken_as_they_are,
                attention_window::windows_of_any_length_work,
                attention_window::windows_over_all_keys_change_nothing,
                attention_window::keys_outside_a_window_do_not_matter,
                attention_window::wrong_windows_are_typed_errors,
                attention::wrong_heads_are_typed_errors,
                quantized::packed_weights_are_unpacked_on_the_way,
                quantized::few_rows_and_many_give_the_same_products,
                quantized::numbers_that_are_not_finite_stay_in_their_rows_and_columns,
                quantized::weights_that_are_not_whole_are_typed_errors,
                errors::wrong_shapes_are_typed_errors,
                errors::places_beyond_memory_are_typed_errors,
                calls::batches_give_what_single_operations_give,
                calls::wrong_batches_are_typed_errors,
                calls::backends_work_along_axes,
                half_attention::attention_of_halves_of_any_size,
                half_attention::many_rows_of_halves_are_multiplied_by_warpgroups,
                half_attention::many_keys_of_halves_are_split,
                half_attention::heads_of_halves_in_every_layout,
                half_attention::hidden_halves_do_not_matter,
                half_attention::halves_outside_a_window_do_not_matter,
                half_decode::few_queries_read_halves_as_they_are,
                half_decode::few_queries_of_halves_in_every_layout,
                half_decode::all_halves_are_read_as_they_convert,
                half_decode::halves_that_few_queries_do_not_see_do_not_matter,
                attention_window::windows_of_halves_work,
                half_products::products_of_halves_in_every_layout,
                half_products::products_of_halves_of_any_size,
                half_products::large_products_of_halves_are_those_of_f32,
                half_products::batches_of_products_of_halves,
                half_products::products_of_halves_are_rounded_once,
                tf32_products::special_numbers_as_tf32,
                tf32_products::products_are_rounded_only_on_request,
                halves::all_bits_convert_as_on_the_cpu,
                halves::numbers_are_rounded_as_on_the_cpu,
                halves::views_convert_as_they_are,
                halves::operations_round_the_results_of_f32,
                half_passes::rows_of_halves_are_normalised,
                half_passes::rows_of_halves_are_reduced,
                half_passes::elements_of_halves_in_every_layout,
                halves::mixed_types_give_f32,
                halves::batches_take_halves,
                halves::wrong_halves_are_typed_errors,
            ],
            native [
                attention_window::windows_over_many_heads_work,
                attention_window::windows_over_many_keys_are_split,
                unpacked_products::packed_products_may_be_rounded_to_tf32,
                handles::handles_of_another_device_are_refused,
                tf32_products::products_of_tf32_in_every_layout,
                tf32_products::products_of_tf32_of_any_size,
                tf32_products::batches_of_products_of_tf32,
                tf32_products::large_products_of_tf32,
            ],
            [
                calls::slices_go_in_and_out,
                calls::backends_say_where_they_ran,
                surfaces::norms_are_the_same_on_every_surface,
                surfaces::rotary_is_the_same_on_every_surface,
                surfaces::attention_is_the_same_on_every_surface,
                surfaces::blocking_forms_give_what_the_others_give,
                layer::layers_of_any_kind_work,
                layer::rows_one_by_one_give_what_they_give_at_once,
                layer::matrices_of_low_rank_are_added,
                layer::layers_follow_each_other_on_the_device,
                layer::wrong_weights_are_typed_errors,
                layer_weights::matrices_of_any_form_work,
                layer_weights::products_of_a_layer_may_be_rounded_to_tf32,
                layer_weights::keys_and_values_of_16_bits_work,
                layer_weights::halves_of_a_cache_follow_each_other,
                layer_weights::wrong_forms_are_typed_errors,
                llama::a_small_llama_gives_the_logits_of_pytorch,
                properties::random_views_show_what_copies_show,
                properties::random_views_reduce_as_copies_do,
                properties::random_views_multiply_as_copies_do,
                properties::random_numbers_of_any_size_step_as_they_must,
                devices::rows_are_spread_and_gathered_in_order,
                devices::pages_are_spread_and_gathered_in_order,
                devices::pools_hold_software_only_if_asked_to,
                devices::weights_stay_on_the_device,
                devices::weights_beyond_a_binding_are_kept_in_parts,
                devices::kernels_are_kept_by_their_text,
                gguf::tensors_of_files_are_uploaded,
                gguf::packed_numbers_multiply_as_they_unpack,
            ]
        );
    };
}

use subject::Subject;

every_case!(cpu, [crate::Subject::Cpu]);
#[cfg(feature = "wgpu")]
every_case!(
    wgpu,
    crate::Subject::wgpu(pagepress::gpu::DeviceRequest::default()).await
);
// Not in browsers, where it is too slow.
#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
every_case!(
    wgpu_lowest_limits,
    crate::Subject::wgpu(pagepress::gpu::DeviceRequest {
        limits: pagepress::gpu::LimitTier::Lowest,
        runtime_checks: pagepress::gpu::RuntimeChecks::Always,
        ..pagepress::gpu::DeviceRequest::default()
    })
    .await
);
// The operations whose kernels and tiles follow from the registers of a device.
#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
suite!(
    wgpu_fewest_registers,
    crate::Subject::wgpu(pagepress::gpu::DeviceRequest {
        limits: pagepress::gpu::LimitTier::FewestRegisters,
        ..pagepress::gpu::DeviceRequest::default()
    })
    .await,
    [
        softmax::rows_of_any_length_work,
        norm::rows_of_any_length_are_normalised,
        half_passes::rows_of_halves_are_normalised,
        products::matrices_of_any_size_work,
        products::batches_extend_to_each_other,
        epilogues::epilogues_of_any_size_work,
        epilogues::epilogues_of_special_numbers_are_as_documented,
        quantized::packed_weights_are_unpacked_on_the_way,
        quantized::few_rows_and_many_give_the_same_products,
        quantized::numbers_that_are_not_finite_stay_in_their_rows_and_columns,
        attention::heads_of_any_size_work,
        attention::many_keys_are_split,
        attention::keys_that_are_not_seen_do_not_matter,
        attention::views_are_taken_as_they_are,
        attention_window::windows_of_any_length_work,
        attention_window::keys_outside_a_window_do_not_matter,
        attention_window::windows_over_many_keys_are_split,
        half_decode::few_queries_read_halves_as_they_are,
        half_decode::few_queries_of_halves_in_every_layout,
        half_decode::all_halves_are_read_as_they_convert,
        half_decode::halves_that_few_queries_do_not_see_do_not_matter,
    ],
    []
);
#[cfg(cuda_engine)]
every_case!(
    cuda,
    crate::Subject::cuda(pagepress::gpu::DeviceRequest::default())
);

/// Defines the tests of every operation with small bindings, including tensors that are larger than a binding.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! every_case_in_parts {
    ($name:ident, $subject:expr) => {
        suite!(
            $name,
            $subject,
            [
                elementwise::any_length_works,
                elementwise::chains_are_their_steps_in_turn,
                reduce::lengths_of_any_kind_reduce,
                reduce::any_axes_work,
                reduce::nan_wins_wherever_it_is,
                reduce::sums_are_the_same_each_time,
                softmax::rows_of_any_length_work,
                softmax::special_rows_are_as_documented,
                products::matrices_of_any_size_work,
                products::batches_extend_to_each_other,
                products::matrices_of_large_buffers_work,
                epilogues::epilogues_of_any_size_work,
                epilogues::epilogues_of_special_numbers_are_as_documented,
                epilogues::epilogues_of_batches_and_vectors_work,
                epilogues::epilogues_on_matrix_units_are_those_of_f32,
                epilogues::epilogues_in_batches_give_the_same,
                products::pictures_and_kernels_of_any_size_work,
                products::nan_beside_a_kernel_stays_outside,
                views::operands_extend_to_each_other,
                views::views_are_what_they_show,
                norm::rows_of_any_length_are_normalised,
                norm::special_rows_are_normalised,
                rotary::heads_of_any_size_are_rotated,
                rotary::views_are_rotated_as_they_are,
                attention::heads_of_any_size_work,
                attention::many_keys_are_split,
                attention::keys_that_are_not_seen_do_not_matter,
                attention::views_are_taken_as_they_are,
                attention_window::windows_of_any_length_work,
                attention_window::windows_over_many_keys_are_split,
                attention_window::keys_outside_a_window_do_not_matter,
                quantized::packed_weights_are_unpacked_on_the_way,
                quantized::few_rows_and_many_give_the_same_products,
                quantized::numbers_that_are_not_finite_stay_in_their_rows_and_columns,
                calls::batches_give_what_single_operations_give,
                calls::wrong_batches_are_typed_errors,
                errors::places_beyond_memory_are_typed_errors,
                half_attention::attention_of_halves_of_any_size,
                half_attention::many_rows_of_halves_are_multiplied_by_warpgroups,
                half_attention::many_keys_of_halves_are_split,
                half_attention::heads_of_halves_in_every_layout,
                half_attention::hidden_halves_do_not_matter,
                half_attention::halves_outside_a_window_do_not_matter,
                half_decode::few_queries_read_halves_as_they_are,
                half_decode::few_queries_of_halves_in_every_layout,
                half_decode::all_halves_are_read_as_they_convert,
                half_decode::halves_that_few_queries_do_not_see_do_not_matter,
                attention_window::windows_of_halves_work,
                half_products::products_of_halves_in_every_layout,
                half_products::products_of_halves_of_any_size,
                half_products::large_products_of_halves_are_those_of_f32,
                half_products::batches_of_products_of_halves,
                half_products::products_of_halves_are_rounded_once,
                tf32_products::products_of_tf32_of_any_size,
                tf32_products::special_numbers_as_tf32,
                tf32_products::products_are_rounded_only_on_request,
                halves::all_bits_convert_as_on_the_cpu,
                halves::numbers_are_rounded_as_on_the_cpu,
                halves::views_convert_as_they_are,
                halves::operations_round_the_results_of_f32,
                half_passes::rows_of_halves_are_normalised,
                half_passes::rows_of_halves_are_reduced,
                half_passes::elements_of_halves_in_every_layout,
                parts::views_beyond_a_binding_are_what_they_show,
                parts::small_parts_of_large_buffers_work,
                parts::axes_beyond_a_binding_reduce,
                parts::rows_beyond_a_binding_are_normalised,
                parts::pictures_beyond_a_binding_work,
                parts::packed_weights_beyond_a_binding_work,
                parts::heads_beyond_a_binding_work,
                parts::positions_beyond_a_binding_work,
                parts::what_cannot_be_cut_is_a_typed_error,
            ],
            [
                layer::layers_of_any_kind_work,
                layer::rows_one_by_one_give_what_they_give_at_once,
                parts::layers_beyond_a_binding_work,
                layer_weights::matrices_of_any_form_work,
                layer_weights::halves_of_a_cache_follow_each_other,
                properties::random_views_show_what_copies_show,
                properties::random_views_reduce_as_copies_do,
                properties::random_views_multiply_as_copies_do,
            ]
        );
    };
}

#[cfg(not(target_arch = "wasm32"))]
fn small_bindings() -> pagepress::gpu::DeviceRequest {
    pagepress::gpu::DeviceRequest {
        limits: pagepress::gpu::LimitTier::BindingsUpTo(64 << 10),
        ..pagepress::gpu::DeviceRequest::default()
    }
}

#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
every_case_in_parts!(
    wgpu_small_bindings,
    crate::Subject::wgpu(crate::small_bindings()).await
);
/// Returns a request for submissions of at most 360,000 multiply-adds, with small bindings, too.
#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
fn short_submissions() -> pagepress::gpu::DeviceRequest {
    pagepress::gpu::DeviceRequest {
        longest_submission: Some(std::time::Duration::from_micros(2)),
        ..small_bindings()
    }
}

#[cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
every_case_in_parts!(
    wgpu_short_submissions,
    crate::Subject::wgpu(crate::short_submissions()).await
);
#[cfg(cuda_engine)]
every_case_in_parts!(
    cuda_small_bindings,
    crate::Subject::cuda(crate::small_bindings())
);
