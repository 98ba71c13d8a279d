//! Input of the first layer: the sum of a word, a position and a type, normalised.

use super::blocks::BlockSizes;
use super::norm::norm;
use super::pattern::Pattern;
use super::weights::{Embedding, Table, Values};
use crate::onnx::graph::Node;
use crate::onnx::refusal::{Matched, Refusal, require};
use crate::onnx::tensor::{Element, Tensor};

/// One term of the sum.
enum Term {
    Words(Table),
    Positions(Table),
    /// The same for every token.
    Type(Vec<f32>),
}

pub fn embedding(pattern: &Pattern<'_>, value: &str) -> Matched<Embedding> {
    let (norm, sum) = norm(pattern, value)?;
    let (mut words, mut positions, mut types) = (None, None, None);
    for value in terms(pattern, sum)? {
        let twice = match term(pattern, value)? {
            Term::Words(table) => words.replace(table).is_some(),
            Term::Positions(table) => positions.replace(table).is_some(),
            Term::Type(row) => types.replace(row).is_some(),
        };
        require(!twice, || "its embedding adds one kind of vector twice".into())?;
    }
    let (Some(words), Some(positions)) = (words, positions) else {
        return Refusal::because("its embedding has no words or no positions");
    };
    let types = types.unwrap_or_else(|| vec![0.0; words.columns]);
    require(positions.columns == words.columns && types.len() == words.columns, || {
        "its words, positions and types have different sizes".into()
    })?;
    let mut added = vec![0.0; positions.rows * positions.columns];
    for (row, to) in added.chunks_exact_mut(positions.columns.max(1)).enumerate() {
        positions.copy_row(row, to);
        to.iter_mut().zip(&types).for_each(|(to, of_type)| *to += of_type);
    }
    Ok(Embedding { words, positions: added, norm })
}

/// The two or three values of a sum, however it is put together.
fn terms<'g>(pattern: &Pattern<'g>, sum: &str) -> Matched<Vec<&'g str>> {
    let (a, b) = pattern.both(pattern.made_by(sum, &["Add"])?)?;
    let parts = |value: &'g str| match pattern.made_by(value, &["Add"]) {
        Ok(node) => pattern.both(node).map(|(a, b)| vec![a, b]),
        Err(_) => Ok(vec![value]),
    };
    Ok([parts(a)?, parts(b)?].concat())
}

fn term(pattern: &Pattern<'_>, value: &str) -> Matched<Term> {
    if let Some(constant) = pattern.graph.constant(value) {
        return Ok(Term::Type(constant.floats()?));
    }
    let node = pattern.made_by(value, &["Gather", "Slice", "DequantizeLinear", "GatherBlockQuantized", "Cast"])?;
    match node.operator {
        "GatherBlockQuantized" => blocks(pattern, node),
        "Cast" => {
            require(node.whole("to", 0) == 1, || "its embedding is cast to another type than f32".into())?;
            blocks(pattern, pattern.made_by(pattern.single(node)?, &["GatherBlockQuantized"])?)
        }
        // Vectors are taken from bytes, which are then scaled.
        "DequantizeLinear" => {
            let taken = pattern.made_by(pattern.input(node, 0)?, &["Gather"])?;
            let (bytes, numbers) = pattern.both(taken)?;
            let zero = node.input(2).map(|zero| pattern.constant(zero)).transpose()?;
            let table =
                scaled_table(pattern, pattern.constant(bytes)?, pattern.constant(pattern.input(node, 1)?)?, zero)?;
            taken_by(pattern, table, numbers)
        }
        "Gather" => {
            let (from, numbers) = pattern.both(node)?;
            require(node.whole("axis", 0) == 0, || "its embedding is taken along another axis".into())?;
            taken_by(pattern, table(pattern, from)?, numbers)
        }
        _ => {
            begins_at_zero(pattern, node.input(1), node.input(3), 0)?;
            Ok(Term::Positions(table(pattern, pattern.input(node, 0)?)?))
        }
    }
}

fn taken_by(pattern: &Pattern<'_>, table: Table, numbers: &str) -> Matched<Term> {
    if pattern.same(numbers, &pattern.inputs.ids) {
        return Ok(Term::Words(table));
    }
    if pattern.inputs.types.as_deref().is_some_and(|types| pattern.same(types, numbers)) {
        let mut row = vec![0.0; table.columns];
        require(table.rows > 0, || "its types have no rows".into())?;
        table.copy_row(0, &mut row);
        return Ok(Term::Type(row));
    }
    // Positions as a constant 0, 1, 2, …, cut to the length of the text.
    let cut = pattern.made_by(numbers, &["Slice"])?;
    begins_at_zero(pattern, cut.input(1), cut.input(3), 1)?;
    let numbers = pattern.constant(pattern.input(cut, 0)?)?.whole()?;
    let counted = numbers.len() == table.rows && numbers.iter().enumerate().all(|(at, number)| at as i64 == *number);
    require(counted, || "its positions do not count from 0".into())?;
    Ok(Term::Positions(table))
}

fn begins_at_zero(pattern: &Pattern<'_>, starts: Option<&str>, axes: Option<&str>, axis: i64) -> Matched<()> {
    let (Some(starts), Some(axes)) = (starts, axes) else {
        return Refusal::because("its positions are cut without a start or an axis");
    };
    let (starts, axes) = (pattern.constant(starts)?.whole()?, pattern.constant(axes)?.whole()?);
    require(starts == [0] && axes == [axis], || "its positions do not begin at 0".into())
}

/// A table of floats, or of bytes that are scaled before vectors are taken.
fn table(pattern: &Pattern<'_>, value: &str) -> Matched<Table> {
    if let Some(constant) = pattern.graph.constant(value) {
        let (rows, columns) = sizes(constant)?;
        return Ok(Table { rows, columns, values: Values::Floats(constant.floats()?) });
    }
    let node = pattern.made_by(value, &["DequantizeLinear"])?;
    let zero = node.input(2).map(|zero| pattern.constant(zero)).transpose()?;
    let (bytes, scale) = pattern.both(node)?;
    scaled_table(pattern, pattern.constant(bytes)?, pattern.constant(scale)?, zero)
}

fn scaled_table(
    pattern: &Pattern<'_>,
    bytes: &Tensor<'_>,
    scale: &Tensor<'_>,
    zero: Option<&Tensor<'_>>,
) -> Matched<Table> {
    let (rows, columns) = sizes(bytes)?;
    let signed = match bytes.element {
        Element::U8 => false,
        Element::I8 => true,
        _ => return Refusal::because("its embedding has values of an unknown type"),
    };
    let zero = match zero.map(|zero| (zero.element, &zero.bytes[..])) {
        None => 0,
        Some((Element::U8, [zero])) if !signed => i32::from(*zero),
        Some((Element::I8, [zero])) if signed => i32::from(*zero as i8),
        Some(_) => return Refusal::because("its embedding has more than one zero"),
    };
    let scale = scale.scalar()?;
    Ok(Table { rows, columns, values: Values::Bytes { bytes: pattern.file.keep(&bytes.bytes), signed, scale, zero } })
}

/// Words whose vectors are taken from blocks of nibbles.
fn blocks(pattern: &Pattern<'_>, node: &Node<'_>) -> Matched<Term> {
    let (nibbles, numbers) = pattern.both(node)?;
    let (nibbles, scales) = (pattern.constant(nibbles)?, pattern.constant(pattern.input(node, 2)?)?);
    let (rows, bytes) = sizes(nibbles)?;
    let columns = 2 * bytes;
    let along = node.whole("gather_axis", 0) == 0 && matches!(node.whole("quantize_axis", 1), 1 | -1);
    require(along, || "its embedding has blocks along another axis".into())?;
    BlockSizes::of(node, columns)?.check(nibbles, rows)?;
    let block = node.whole("block_size", 128) as usize;
    require(scales.element == Element::F16 && scales.shape == [rows, columns / block], || {
        "its embedding has other scales than one of f16 for each block".into()
    })?;
    scales.floats()?;
    let [nibbles, scales] = [nibbles, scales].map(|constant| pattern.file.keep(&constant.bytes));
    taken_by(pattern, Table { rows, columns, values: Values::Blocks { nibbles, scales, block } }, numbers)
}

fn sizes(table: &Tensor<'_>) -> Matched<(usize, usize)> {
    match table.shape[..] {
        [rows, columns] => Ok((rows, columns)),
        _ => Refusal::because("its embedding is not a table"),
    }
}
