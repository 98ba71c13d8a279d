//! A layer norm: ONNX's own operator, or the nine that exports before opset 17 have.

use super::pattern::Pattern;
use super::weights::Norm;
use crate::onnx::graph::Node;
use crate::onnx::refusal::{Matched, Refusal, require};

/// A layer norm and its input.
pub fn norm<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<(Norm, &'g str)> {
    let node = pattern.made_by(value, &["LayerNormalization", "Add"])?;
    if node.operator == "Add" { in_parts(pattern, node) } else { fused(pattern, node) }
}

fn fused<'g>(pattern: &Pattern<'g>, node: &'g Node<'g>) -> Matched<(Norm, &'g str)> {
    let gain = pattern.constant(pattern.input(node, 1)?)?.floats()?;
    let shift = match node.input(2) {
        Some(shift) => pattern.constant(shift)?.floats()?,
        None => vec![0.0; gain.len()],
    };
    let last = matches!(node.whole("axis", -1), -1 | 2) && node.whole("stash_type", 1) == 1;
    require(last, || "it normalises over another axis than the last".into())?;
    let epsilon = node.attribute("epsilon").map_or(1e-5, |attribute| attribute.float);
    Ok((Norm { gain, shift, epsilon }, pattern.input(node, 0)?))
}

/// `(x − mean) / sqrt(mean((x − mean)²) + epsilon) · gain + shift`
fn in_parts<'g>(pattern: &Pattern<'g>, node: &'g Node<'g>) -> Matched<(Norm, &'g str)> {
    let (scaled, shift) = pattern.with_constant(node)?;
    let (quotient, gain) = pattern.with_constant(pattern.made_by(scaled, &["Mul"])?)?;
    let (centred, root) = pattern.both(pattern.made_by(quotient, &["Div"])?)?;
    let variance = pattern.single(pattern.made_by(root, &["Sqrt"])?)?;
    let (variance, epsilon) = pattern.with_constant(pattern.made_by(variance, &["Add"])?)?;
    let square = pattern.made_by(mean_of(pattern, variance)?, &["Pow", "Mul"])?;
    let (base, exponent) = pattern.both(square)?;
    let squared = match square.operator {
        "Pow" => pattern.constant(exponent)?.scalar()? == 2.0,
        _ => pattern.same(base, exponent),
    };
    let (input, mean) = pattern.both(pattern.made_by(centred, &["Sub"])?)?;
    let centred_alike = pattern.same(base, centred) || {
        let other = pattern.made_by(base, &["Sub"])?;
        pattern.same(other.inputs[0], input) && pattern.same(mean_of(pattern, pattern.input(other, 1)?)?, input)
    };
    let whole = squared && centred_alike && pattern.same(mean_of(pattern, mean)?, input);
    require(whole, || "its layer norm has other parts than BERT's".into())?;
    Ok((Norm { gain: gain.floats()?, shift: shift.floats()?, epsilon: epsilon.scalar()? }, input))
}

/// The value whose mean over the last axis is taken.
fn mean_of<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<&'g str> {
    let node = pattern.made_by(value, &["ReduceMean"])?;
    let axes = match (node.attribute("axes"), node.input(1)) {
        (Some(axes), _) => axes.list.clone(),
        (None, Some(axes)) => pattern.constant(axes)?.whole()?,
        (None, None) => return Refusal::because("it takes a mean over all axes"),
    };
    require(matches!(axes[..], [-1 | 2]) && node.whole("keepdims", 1) == 1, || {
        "it takes a mean over another axis than the last".into()
    })?;
    pattern.input(node, 0)
}
