//! One layer: attention and a feed-forward network, each added to its input and normalised.

use super::attention::attention;
use super::linear::linear;
use super::norm::norm;
use super::pattern::Pattern;
use super::weights::{Layer, Linear, Norm};
use crate::onnx::refusal::{Matched, require};

/// Whether a value is the output of a layer: a norm of a sum with a linear layer. An embedding has none.
pub fn is_layer(pattern: &Pattern<'_>, value: &str) -> bool {
    norm(pattern, value).and_then(|(_, sum)| residual(pattern, sum)).is_ok()
}

/// A layer and its input.
pub fn layer<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<(Layer, &'g str)> {
    let (output_norm, down, activated, middle) = normalised_sum(pattern, value)?;
    let (up, up_input) = linear(pattern, gelu(pattern, activated)?)?;
    let (attention_norm, attention_output, mixed, input) = normalised_sum(pattern, middle)?;
    let (attention, attention_input) = attention(pattern, mixed)?;
    require(pattern.same(up_input, middle) && pattern.same(attention_input, input), || {
        "a layer is not added to its own input".into()
    })?;
    Ok((Layer { attention, attention_output, attention_norm, up, down, output_norm }, input))
}

/// `norm(linear(a) + b)`: the norm, the linear layer, a and b.
fn normalised_sum<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<(Norm, Linear, &'g str, &'g str)> {
    let (norm, sum) = norm(pattern, value)?;
    let (linear, input, added) = residual(pattern, sum)?;
    Ok((norm, linear, input, added))
}

fn residual<'g>(pattern: &Pattern<'g>, sum: &str) -> Matched<(Linear, &'g str, &'g str)> {
    pattern.either(pattern.made_by(sum, &["Add"])?, |first, second| {
        let (linear, input) = linear(pattern, first)?;
        Ok((linear, input, second))
    })
}

/// The input of `x · (1 + erf(x / √2)) / 2`, whose factors exports multiply in two orders.
fn gelu<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<&'g str> {
    let outer = pattern.made_by(value, &["Mul"])?;
    let halved = |value: &str| {
        let (value, half) = pattern.with_constant(pattern.made_by(value, &["Mul"])?)?;
        require(half.scalar()? == 0.5, || "its activation is not GELU".into())?;
        Ok(value)
    };
    pattern.first_of(
        || {
            let product = pattern.made_by(halved(value)?, &["Mul"])?;
            pattern.either(product, |input, factor| one_plus_erf(pattern, input, factor))
        },
        || pattern.either(outer, |half, factor| one_plus_erf(pattern, halved(half)?, factor)),
    )
}

fn one_plus_erf<'g>(pattern: &Pattern<'g>, input: &'g str, factor: &str) -> Matched<&'g str> {
    let (erf, one) = pattern.with_constant(pattern.made_by(factor, &["Add"])?)?;
    let scaled = pattern.made_by(pattern.single(pattern.made_by(erf, &["Erf"])?)?, &["Div", "Mul"])?;
    let (of, constant) = pattern.with_constant(scaled)?;
    let root = if scaled.operator == "Div" { constant.scalar()? } else { 1.0 / constant.scalar()? };
    let known = one.scalar()? == 1.0 && (root - std::f32::consts::SQRT_2).abs() < 1e-6;
    require(known && pattern.same(of, input), || "its activation is not GELU".into())?;
    Ok(input)
}
