//! The pooling that a graph itself has: the mean of its tokens' vectors, at unit length.

use super::pattern::Pattern;
use crate::onnx::refusal::{Matched, require};

/// The tokens' vectors whose mean is a graph's output.
pub fn mean_in_graph<'g>(pattern: &Pattern<'g>, output: &str) -> Matched<&'g str> {
    let unit = pattern.made_by(output, &["LpNormalization"])?;
    require(unit.whole("p", 2) == 2 && matches!(unit.whole("axis", -1), -1 | 1), || {
        "its output is not scaled to unit length".into()
    })?;
    let (sum, count) = pattern.both(pattern.made_by(pattern.single(unit)?, &["Div"])?)?;
    let counted = pattern.made_by(count, &["Max"])?;
    let (count, least) = pattern.with_constant(counted)?;
    require(least.scalar()? <= 1.0, || "its mean has another divisor than the number of tokens".into())?;
    let ones = summed(pattern, count)?;
    let weighted = pattern.made_by(summed(pattern, sum)?, &["Mul"])?;
    let tokens = pattern.either(weighted, |tokens, mask| {
        require(pattern.without_padding(mask)? == 1.0, || "its mean weighs tokens".into())?;
        Ok(tokens)
    })?;
    require(pattern.without_padding(ones)? == 1.0, || "its mean weighs tokens".into())?;
    Ok(tokens)
}

/// The summand of a sum over the tokens.
fn summed<'g>(pattern: &Pattern<'g>, value: &str) -> Matched<&'g str> {
    let node = pattern.made_by(value, &["ReduceSum"])?;
    let axes = pattern.constant(pattern.input(node, 1)?)?.whole()?;
    require(axes == [1], || "it sums over another axis than the tokens".into())?;
    pattern.input(node, 0)
}
