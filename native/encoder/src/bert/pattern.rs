//! The walk through a graph, from values to the nodes that made them.

use std::cell::Cell;

use crate::onnx::file::ModelFile;
use crate::onnx::graph::{Graph, Node};
use crate::onnx::refusal::{Matched, Refusal, require};
use crate::onnx::tensor::Tensor;

/// Names of a model's inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Inputs {
    pub ids: String,
    pub mask: Option<String>,
    pub types: Option<String>,
}

/// No chain of shapes or masks in an export is longer.
const DEPTH_MAX: usize = 32;

pub struct Pattern<'g> {
    pub file: &'g ModelFile,
    pub graph: &'g Graph<'g>,
    pub inputs: &'g Inputs,
    /// Nodes found as expected so far: of two ways that fail, the one that came further says why.
    found: Cell<usize>,
}

impl<'g> Pattern<'g> {
    pub fn new(file: &'g ModelFile, graph: &'g Graph<'g>, inputs: &'g Inputs) -> Self {
        Self { file, graph, inputs, found: Cell::new(0) }
    }

    /// The node that makes a value, of one of the operators.
    pub fn made_by(&self, value: &str, operators: &[&str]) -> Matched<&'g Node<'g>> {
        let node = self.graph.maker(value);
        match node {
            Some(node) if operators.contains(&node.operator) => {
                self.found.set(self.found.get() + 1);
                Ok(node)
            }
            Some(node) => {
                Refusal::because(format!("it has {} where {} stands in BERT", node.operator, operators.join(" or ")))
            }
            None => Refusal::because(format!("{value} is not made by {}", operators.join(" or "))),
        }
    }

    /// The only input of a node.
    pub fn single(&self, node: &'g Node<'g>) -> Matched<&'g str> {
        self.input(node, 0)
    }

    pub fn input(&self, node: &'g Node<'g>, number: usize) -> Matched<&'g str> {
        node.input(number).map_or_else(|| Refusal::because(format!("{} lacks an input", node.operator)), Ok)
    }

    pub fn both(&self, node: &'g Node<'g>) -> Matched<(&'g str, &'g str)> {
        Ok((self.input(node, 0)?, self.input(node, 1)?))
    }

    /// The two inputs of an operation whose order does not matter: what is computed, and the constant.
    pub fn with_constant(&self, node: &'g Node<'g>) -> Matched<(&'g str, &'g Tensor<'g>)> {
        let (a, b) = self.both(node)?;
        match (self.graph.constant(a), self.graph.constant(b)) {
            (None, Some(constant)) => Ok((a, constant)),
            (Some(constant), None) => Ok((b, constant)),
            _ => Refusal::because(format!("{} has no constant", node.operator)),
        }
    }

    pub fn constant(&self, value: &str) -> Matched<&'g Tensor<'g>> {
        self.graph.constant(value).map_or_else(|| Refusal::because(format!("{value} is not a constant")), Ok)
    }

    /// Whether two names stand for one value.
    pub fn same(&self, a: &str, b: &str) -> bool {
        self.graph.origin(a) == self.graph.origin(b)
    }

    /// The inputs in both orders.
    pub fn either<T>(&self, node: &'g Node<'g>, of: impl Fn(&'g str, &'g str) -> Matched<T>) -> Matched<T> {
        let (a, b) = self.both(node)?;
        self.first_of(|| of(a, b), || of(b, a))
    }

    /// The first of two ways that matches. If none does, the reason is that of the way that came further.
    pub fn first_of<T>(&self, one: impl FnOnce() -> Matched<T>, other: impl FnOnce() -> Matched<T>) -> Matched<T> {
        let before = self.found.replace(0);
        let outcome = one().or_else(|first| {
            let reached = self.found.replace(0);
            other().map_err(|second| if self.found.get() > reached { second } else { first })
        });
        self.found.set(before + self.found.get());
        outcome
    }

    /// The value of what is made from the mask alone, where every token counts: no text is padded here.
    pub fn without_padding(&self, value: &str) -> Matched<f32> {
        self.masked(value, DEPTH_MAX)
    }

    fn masked(&self, value: &str, depth: usize) -> Matched<f32> {
        let depth = depth.checked_sub(1).map_or_else(|| Refusal::because("its mask is made in too many steps"), Ok)?;
        if let Some(constant) = self.graph.constant(value) {
            return constant.scalar();
        }
        if self.inputs.mask.as_deref().is_some_and(|mask| self.same(mask, value)) {
            return Ok(1.0);
        }
        let node = self.made_by(value, &["Cast", "Unsqueeze", "Sub", "Mul", "Add"])?;
        let of = |number: usize| self.masked(self.input(node, number)?, depth);
        match node.operator {
            "Sub" => Ok(of(0)? - of(1)?),
            "Mul" => Ok(of(0)? * of(1)?),
            "Add" => Ok(of(0)? + of(1)?),
            _ => of(0),
        }
    }

    /// Whole numbers that are constant or taken from a shape; those of a shape are none.
    pub fn sizes(&self, value: &str) -> Matched<Vec<Option<i64>>> {
        self.sized(value, DEPTH_MAX)
    }

    fn sized(&self, value: &str, depth: usize) -> Matched<Vec<Option<i64>>> {
        let depth =
            depth.checked_sub(1).map_or_else(|| Refusal::because("its shapes are made in too many steps"), Ok)?;
        if let Some(constant) = self.graph.constant(value) {
            return Ok(constant.whole()?.into_iter().map(Some).collect());
        }
        let node = self.made_by(value, &["Concat", "Unsqueeze", "Gather", "Shape", "Slice", "Squeeze", "Cast"])?;
        match node.operator {
            "Concat" => {
                let parts = node.inputs.iter().map(|input| self.sized(input, depth));
                Ok(parts.collect::<Matched<Vec<_>>>()?.concat())
            }
            "Unsqueeze" | "Squeeze" | "Cast" => self.sized(self.input(node, 0)?, depth),
            // One number of a shape, or a run of them.
            "Gather" | "Slice" => {
                self.shape_of_values(self.input(node, 0)?, depth)?;
                Ok(vec![None])
            }
            _ => Ok(vec![None; 1]),
        }
    }

    fn shape_of_values(&self, value: &str, depth: usize) -> Matched<()> {
        match self.made_by(value, &["Shape", "Cast"])? {
            node if node.operator == "Cast" && depth > 0 => self.shape_of_values(self.input(node, 0)?, depth - 1),
            _ => Ok(()),
        }
    }

    /// A reshape of `rows × tokens × …` whose last sizes are these; one of them may be left to ONNX as −1.
    pub fn reshaped(&self, value: &str, last: &[usize]) -> Matched<&'g str> {
        let node = self.made_by(value, &["Reshape"])?;
        let sizes = self.sizes(self.input(node, 1)?)?;
        let fits = sizes.len() == last.len() + 2
            && sizes[..2].iter().all(|size| matches!(size, None | Some(0 | -1)))
            && sizes[2..].iter().zip(last).all(|(size, last)| *size == Some(*last as i64) || *size == Some(-1));
        require(fits, || format!("it reshapes to {sizes:?} where the sizes {last:?} stand in BERT"))?;
        self.input(node, 0)
    }

    pub fn transposed(&self, value: &str, order: [i64; 4]) -> Matched<&'g str> {
        let node = self.made_by(value, &["Transpose"])?;
        let found = node.attribute("perm").is_some_and(|attribute| attribute.list == order);
        require(found, || format!("it transposes in another order than {order:?}"))?;
        self.single(node)
    }
}
