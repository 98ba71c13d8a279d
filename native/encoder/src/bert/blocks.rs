//! Weights in blocks of 4 bits, each block with a scale: ONNX Runtime's `MatMulNBits`, and the sizes of `GatherBlockQuantized`.

use super::pattern::Pattern;
use super::weights::{Linear, NIBBLE_ZERO};
use crate::onnx::graph::Node;
use crate::onnx::refusal::{Matched, require};
use crate::onnx::tensor::{Element, Tensor};

/// Largest byte of an int8 weight.
const STEPS: f32 = 127.0;

/// How rows are divided.
pub struct BlockSizes {
    pub columns: usize,
    pub block: usize,
}

impl BlockSizes {
    /// The sizes of a node whose rows have `columns` values.
    ///
    /// # Errors
    /// If its values do not have 4 bits, its rows are not whole blocks, or the zero is another than the middle.
    pub fn of(node: &Node<'_>, columns: usize) -> Matched<Self> {
        let bits = node.whole("bits", 4);
        require(bits == 4, || format!("its blocks have {bits} bits, not 4"))?;
        let block = usize::try_from(node.whole("block_size", 128)).unwrap_or(0);
        let is_whole = block >= 16 && block.is_power_of_two() && columns.is_multiple_of(block) && columns > 0;
        require(is_whole, || format!("its rows of {columns} are not whole blocks of {block}"))?;
        require(node.input(3).is_none(), || "its blocks have zero points".into())?;
        Ok(Self { columns, block })
    }

    /// # Errors
    /// If the nibbles are not those of so many rows.
    pub fn check(&self, nibbles: &Tensor<'_>, rows: usize) -> Matched<()> {
        let fits = nibbles.element == Element::U8 && Some(nibbles.bytes.len()) == rows.checked_mul(self.columns / 2);
        require(fits, || format!("the constant {} is not {rows} rows of {} nibbles", nibbles.name, self.columns))
    }
}

/// A linear layer without its bias, and its input. Its weights become bytes with a scale for each output.
pub fn block_product<'g>(pattern: &Pattern<'g>, node: &'g Node<'g>) -> Matched<(Linear, &'g str)> {
    let size = |name: &str| usize::try_from(node.whole(name, 0)).unwrap_or(0);
    let (inputs, outputs) = (size("K"), size("N"));
    let sizes = BlockSizes::of(node, inputs)?;
    require(node.input(4).is_none() && node.input(5).is_none(), || "its blocks are ordered, or have a bias".into())?;
    let (input, nibbles) = pattern.both(node)?;
    let nibbles = pattern.constant(nibbles)?;
    sizes.check(nibbles, outputs)?;
    let scales = pattern.constant(pattern.input(node, 2)?)?.floats()?;
    require(outputs > 0 && scales.len() == outputs * (inputs / sizes.block), || {
        "its blocks have another number of scales".into()
    })?;
    Ok((bytes_of(&nibbles.bytes, &scales, &sizes, outputs), input))
}

/// The weights as int8: each output's largest weight becomes ±127. `nibbles` and `scales`: output by output.
fn bytes_of(nibbles: &[u8], scales: &[f32], sizes: &BlockSizes, outputs: usize) -> Linear {
    let BlockSizes { columns: inputs, block } = *sizes;
    let mut weights = vec![0; inputs * outputs];
    let mut row = vec![0.0; inputs];
    let mut steps = Vec::with_capacity(outputs);
    for (output, (nibbles, scales)) in
        nibbles.chunks_exact(inputs / 2).zip(scales.chunks_exact(inputs / block)).enumerate()
    {
        for (at, byte) in nibbles.iter().enumerate() {
            let scale = scales[2 * at / block];
            row[2 * at] = (i32::from(byte & 15) - NIBBLE_ZERO) as f32 * scale;
            row[2 * at + 1] = (i32::from(byte >> 4) - NIBBLE_ZERO) as f32 * scale;
        }
        let most = row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
        // An output of zeros alone has any scale.
        let step = if most > 0.0 { most / STEPS } else { 1.0 };
        for (input, weight) in row.iter().enumerate() {
            weights[input * outputs + output] = (weight / step).round_ties_even() as i8 as u8;
        }
        steps.push(step);
    }
    Linear { inputs, outputs, weights, scales: steps, bias: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_blocks_become_bytes_within_half_a_step() {
        let sizes = BlockSizes { columns: 32, block: 16 };
        let nibbles: Vec<u8> = (0..3 * 16u32).map(|at| (at * 37 % 256) as u8).collect();
        let scales = [0.5, 0.25, -1.0, 2.0, 0.0, 0.0];
        let linear = bytes_of(&nibbles, &scales, &sizes, 3);
        assert_eq!((linear.inputs, linear.outputs, linear.scales[2]), (32, 3, 1.0));
        for output in 0..3 {
            for input in 0..32 {
                let at = output * 32 + input;
                let nibble = i32::from(nibbles[at / 2] >> (4 * (at % 2)) & 15);
                let weight = (nibble - 8) as f32 * scales[output * 2 + input / 16];
                let found = f32::from(linear.weights[input * 3 + output] as i8) * linear.scales[output];
                assert!((found - weight).abs() <= linear.scales[output] * 0.501, "{input} → {output}");
            }
        }
    }
}
