//! A whole model, matched.

use super::embedding::embedding;
use super::layer::{is_layer, layer};
use super::pattern::{Inputs, Pattern};
use super::pooling::mean_in_graph;
use super::weights::{Bert, Linear, Norm, Pooling};
use crate::onnx::file::ModelFile;
use crate::onnx::graph::Graph;
use crate::onnx::refusal::{Matched, Refusal, require};

/// A caller's knowledge of a model beside its file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Description {
    pub inputs: Inputs,
    pub output: String,
    pub pooling: DescribedPooling,
}

/// Where and how the tokens' vectors are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DescribedPooling {
    /// The graph's output is pooled already.
    InGraph,
    Mean,
    First,
    Last,
}

/// More than any model of this shape has.
const LAYERS_MAX: usize = 64;

/// Matches the model of a file. Vectors of words in bytes or in blocks stay in it.
///
/// # Errors
/// The first difference from BERT's pattern.
pub fn matched(file: &ModelFile, description: &Description) -> Matched<Bert> {
    let graph = Graph::read(file)?;
    let pattern = Pattern::new(file, &graph, &description.inputs);
    let output = description.output.as_str();
    require(graph.outputs.contains(&output), || format!("it has no output {output}"))?;
    require(graph.is_input(&description.inputs.ids), || format!("it has no input {}", description.inputs.ids))?;
    let (mut value, pooling) = match description.pooling {
        DescribedPooling::InGraph => (mean_in_graph(&pattern, output)?, Pooling::Mean),
        DescribedPooling::Mean => (output, Pooling::Mean),
        DescribedPooling::First => (output, Pooling::First),
        DescribedPooling::Last => (output, Pooling::Last),
    };
    let mut layers = Vec::new();
    // The last layer must be one, so that what is wrong with it is said.
    while layers.is_empty() || is_layer(&pattern, value) {
        require(layers.len() < LAYERS_MAX, || "it has too many layers".into())?;
        let (found, input) = layer(&pattern, value)?;
        layers.push(found);
        value = input;
    }
    layers.reverse();
    let embedding = embedding(&pattern, value)?;
    let bert = Bert { hidden: embedding.words.columns, embedding, layers, pooling };
    check_sizes(&bert)?;
    Ok(bert)
}

/// Heads are as wide as one or two tiles.
const HEAD_SIZES: [usize; 2] = [32, 64];
/// Vectors are handled in lines of 32; wider ones than these would let sums of bytes leave 32 bits.
const WIDTH_MAX: usize = 16_384;

fn check_sizes(bert: &Bert) -> Matched<()> {
    let hidden = bert.hidden;
    let widths = std::iter::once(hidden).chain(bert.layers.iter().map(|layer| layer.up.outputs));
    for width in widths {
        require(width > 0 && width <= WIDTH_MAX && width.is_multiple_of(32), || {
            format!("its width of {width} is not a multiple of 32")
        })?;
    }
    require(norm_fits(&bert.embedding.norm, hidden), || "its layer norm has another size than its vectors".into())?;
    for layer in &bert.layers {
        let heads = bert.layers[0].attention.heads;
        require(layer.attention.heads == heads, || "its layers have different numbers of heads".into())?;
        let size = hidden / heads;
        require(HEAD_SIZES.contains(&size) && size * heads == hidden, || {
            format!("its heads have {size} elements, not 32 or 64")
        })?;
        let square = [&layer.attention.query, &layer.attention.key, &layer.attention.value, &layer.attention_output];
        let inner = layer.up.outputs;
        let fits = square.iter().all(|linear| linear_fits(linear, hidden, hidden))
            && linear_fits(&layer.up, hidden, inner)
            && linear_fits(&layer.down, inner, hidden)
            && norm_fits(&layer.attention_norm, hidden)
            && norm_fits(&layer.output_norm, hidden);
        require(fits, || "the sizes of a layer do not agree".into())?;
    }
    if bert.embedding.words.rows == 0 || bert.embedding.positions.is_empty() {
        return Refusal::because("its embedding is empty");
    }
    Ok(())
}

fn linear_fits(linear: &Linear, inputs: usize, outputs: usize) -> bool {
    linear.inputs == inputs && linear.outputs == outputs
}

fn norm_fits(norm: &Norm, hidden: usize) -> bool {
    norm.gain.len() == hidden && norm.shift.len() == hidden && norm.epsilon > 0.0
}
