// Activations: functions of an element that have no parameters.
//
// Twin: src/tensor/cpu/functions.rs

/// Returns tanh(x). The built-in may overflow in an intermediate result.
fn hyperbolic_tangent(x: vec4<f32>) -> vec4<f32> {
    let square = x * x;
    let series = x * (1.0 + square * (-0.33333333 + square * (0.13333333 + square * (-0.053968254 + square * 0.021869489))));
    let power = exp(-2.0 * abs(x));
    let magnitude = (1.0 - power) / (1.0 + power);
    return select(select(magnitude, -magnitude, x < vec4(0.0)), series, abs(x) < vec4(0.3));
}

fn sigmoid(x: vec4<f32>) -> vec4<f32> {
    let power = exp(-abs(x));
    return select(vec4(1.0), power, x < vec4(0.0)) / (1.0 + power);
}

/// Returns x times the cumulative normal distribution at x. erfc by the Chebyshev fit of Press et al., Numerical Recipes,
/// with a relative error of 1.2e-7, so that the left tail stays accurate.
fn gelu(x: vec4<f32>) -> vec4<f32> {
    let z = min(abs(x), vec4(15.0)) * 0.70710678;
    let t = 1.0 / (1.0 + 0.5 * z);
    let fit = t * (1.00002368 + t * (0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (0.27886807
        + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
    let tail = 0.5 * t * exp(fit - 1.26551223 - z * z);
    return max(x, vec4(-15.0)) * select(tail, 1.0 - tail, x > vec4(0.0));
}

fn gelu_tanh(x: vec4<f32>) -> vec4<f32> {
    // 0.5 (1 + tanh(u)) is the sigmoid of 2 u.
    return max(x, vec4(-15.0)) * sigmoid(1.5957691 * x * (1.0 + 0.044715 * x * x));
}

/// Returns the activation with this number, as `kernels::tensor::Step` numbers them, of numbers; x for others.
fn activation(step: u32, x: vec4<f32>) -> vec4<f32> {
    switch step {
        case 1u: { return select(x, vec4(0.0), x < vec4(0.0)); }
        case 4u: { return sigmoid(x); }
        case 5u: { return hyperbolic_tangent(x); }
        // Below -110 the product underflows to 0.
        case 6u: { return max(x, vec4(-110.0)) * sigmoid(x); }
        case 7u: { return gelu(x); }
        case 8u: { return gelu_tanh(x); }
        default: { return x; }
    }
}
