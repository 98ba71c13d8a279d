//! Self-attention: three projections in heads, a softmax over the keys, and the values that it mixes.

use super::linear::linear;
use super::pattern::Pattern;
use super::weights::Attention;
use crate::onnx::refusal::{Matched, Refusal, require};

const BY_HEADS: [i64; 4] = [0, 2, 1, 3];
const BY_HEADS_TURNED: [i64; 4] = [0, 2, 3, 1];

/// Self-attention and its input, which queries, keys and values share.
pub fn attention<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<(Attention, &'g str)> {
    let joined = pattern.made_by(value, &["Reshape"])?;
    let mixed = pattern.transposed(pattern.input(joined, 0)?, BY_HEADS)?;
    let (shares, values) = pattern.both(pattern.made_by(mixed, &["MatMul"])?)?;
    let softmax = pattern.made_by(shares, &["Softmax"])?;
    require(matches!(softmax.whole("axis", -1), -1 | 3), || "its softmax is not over the keys".into())?;
    let masked = pattern.made_by(pattern.single(softmax)?, &["Add"])?;
    let (product, scale) = pattern.either(masked, |scores, mask| {
        let neutral = pattern.without_padding(mask)? == 0.0;
        require(neutral, || "its mask changes the scores of tokens".into())?;
        scaled(pattern, scores)
    })?;
    let (queries, keys) = pattern.both(pattern.made_by(product, &["MatMul"])?)?;

    let queries = pattern.transposed(queries, BY_HEADS)?;
    let (heads, size) = heads(pattern, queries)?;
    let projected = |value: &str| linear(pattern, pattern.reshaped(value, &[heads, size])?);
    let (query, input) = projected(queries)?;
    let (key, key_input) = projected(pattern.transposed(keys, BY_HEADS_TURNED)?)?;
    let (value, value_input) = projected(pattern.transposed(values, BY_HEADS)?)?;
    require(pattern.same(input, key_input) && pattern.same(input, value_input), || {
        "its queries, keys and values are made of different inputs".into()
    })?;
    let hidden = heads * size;
    require([&query, &key, &value].iter().all(|linear| linear.outputs == hidden), || {
        "its heads do not divide its width".into()
    })?;
    pattern.reshaped(value_of(joined)?, &[hidden])?;
    Ok((Attention { query, key, value, heads, scale }, input))
}

fn value_of<'g>(node: &'g crate::onnx::graph::Node<'g>) -> Matched<&'g str> {
    node.outputs.first().map_or_else(|| Refusal::because("a node has no output"), |output| Ok(*output))
}

/// Scores before they were multiplied or divided by a constant.
fn scaled<'g>(pattern: &Pattern<'g>, scores: &str) -> Matched<(&'g str, f32)> {
    let node = pattern.made_by(scores, &["Mul", "Div"])?;
    let (product, constant) = pattern.with_constant(node)?;
    let constant = constant.scalar()?;
    if node.operator == "Mul" {
        return Ok((product, constant));
    }
    require(pattern.same(node.inputs[0], product) && constant != 0.0, || "it divides by its scores".into())?;
    Ok((product, 1.0 / constant))
}

/// Number and size of the heads, as queries are reshaped to them.
fn heads(pattern: &Pattern<'_>, value: &str) -> Matched<(usize, usize)> {
    let node = pattern.made_by(value, &["Reshape"])?;
    match pattern.sizes(pattern.input(node, 1)?)?[..] {
        [_, _, Some(heads @ 1..=1024), Some(size @ 1..=1024)] => Ok((heads as usize, size as usize)),
        ref sizes => Refusal::because(format!("its heads are not known from the shape {sizes:?}")),
    }
}
