//! A linear layer: `MatMulInteger` of bytes, scaled, as dynamic quantisation writes it, or `MatMulNBits`; and a bias.

use super::blocks::block_product;
use super::pattern::Pattern;
use super::weights::Linear;
use crate::onnx::refusal::{Matched, require};
use crate::onnx::tensor::Element;

/// A linear layer and its input.
pub fn linear<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<(Linear, &'g str)> {
    let (product, bias) = pattern.with_constant(pattern.made_by(value, &["Add"])?)?;
    let node = pattern.made_by(product, &["Mul", "MatMulNBits"])?;
    let (linear, input) = match node.operator {
        "Mul" => pattern.either(node, |sums, scale| scaled_product(pattern, sums, scale))?,
        _ => block_product(pattern, node)?,
    };
    let bias = bias.floats()?;
    require(bias.len() == linear.outputs, || "a bias has another size than its weights".into())?;
    Ok((Linear { bias, ..linear }, input))
}

fn scaled_product<'g>(pattern: &Pattern<'g>, sums: &str, scale: &str) -> Matched<(Linear, &'g str)> {
    let cast = pattern.made_by(sums, &["Cast"])?;
    require(cast.whole("to", 0) == 1, || "sums of bytes are cast to another type than f32".into())?;
    let product = pattern.made_by(pattern.single(cast)?, &["MatMulInteger"])?;
    let bytes = pattern.made_by(pattern.input(product, 0)?, &["DynamicQuantizeLinear"])?;
    let quantised =
        |output: usize, value: &str| bytes.outputs.get(output).is_some_and(|name| pattern.same(name, value));
    let zero = pattern.input(product, 2)?;
    require(quantised(0, product.inputs[0]) && quantised(2, zero), || {
        "a matrix product has another zero than its input".into()
    })?;
    let (input_scale, scales) = pattern.with_constant(pattern.made_by(scale, &["Mul"])?)?;
    require(quantised(1, input_scale), || "a matrix product has another scale than its input".into())?;

    let weights = pattern.constant(pattern.input(product, 1)?)?;
    require(weights.element == Element::I8, || {
        format!("its weights are of the type {:?}, not of i8", weights.element)
    })?;
    if let Some(zero) = product.input(3) {
        let zeros = pattern.constant(zero)?;
        let symmetric = zeros.element == Element::I8 && zeros.bytes.iter().all(|byte| *byte == 0);
        require(symmetric, || "its weights have a zero point".into())?;
    }
    let [inputs, outputs] = weights.shape[..] else {
        return require(false, || "its weights are not a matrix".into()).map(|()| unreachable!());
    };
    let scales = scales.floats()?;
    require(scales.len() == outputs, || "its weights are not scaled per channel".into())?;
    let linear = Linear { inputs, outputs, weights: weights.bytes.to_vec(), scales, bias: Vec::new() };
    Ok((linear, pattern.single(bytes)?))
}
