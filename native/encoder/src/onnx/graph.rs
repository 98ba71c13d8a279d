//! A model's graph: its nodes by the values that they make, its constants, inputs and outputs.

use std::collections::HashMap;

use super::attribute::Attribute;
use super::refusal::{Matched, Refusal, require};
use super::tensor::Tensor;
use super::wire::{Value, fields};

/// ONNX Runtime's operators for weights in blocks, each with a scale.
const BLOCK_OPERATORS: [&str; 2] = ["MatMulNBits", "GatherBlockQuantized"];

/// One operation.
#[derive(Debug, Default)]
pub struct Node<'a> {
    pub operator: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    attributes: Vec<Attribute<'a>>,
}

impl<'a> Node<'a> {
    fn read(message: &'a [u8]) -> Matched<Self> {
        let (mut node, mut domain) = (Self::default(), "");
        fields(message, |number, value| {
            match number {
                1 => node.inputs.push(value.text()?),
                2 => node.outputs.push(value.text()?),
                4 => node.operator = value.text()?,
                5 => node.attributes.push(Attribute::read(value.bytes()?)?),
                7 => domain = value.text()?,
                _ => {}
            }
            Ok(())
        })?;
        let is_known = match domain {
            "" | "ai.onnx" => !BLOCK_OPERATORS.contains(&node.operator),
            "com.microsoft" => BLOCK_OPERATORS.contains(&node.operator),
            _ => false,
        };
        require(is_known, || {
            format!(
                "it has the operator {} of {domain:?}, and only ONNX's own and those of blocks are read",
                node.operator
            )
        })?;
        Ok(node)
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// A whole number, or what ONNX takes in its absence.
    pub fn whole(&self, name: &str, absent: i64) -> i64 {
        self.attribute(name).map_or(absent, |attribute| attribute.whole)
    }

    /// The node's input of that number. Absent ones have an empty name.
    pub fn input(&self, number: usize) -> Option<&'a str> {
        self.inputs.get(number).copied().filter(|name| !name.is_empty())
    }
}

#[derive(Debug, Default)]
pub struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    /// Node that makes a value.
    makers: HashMap<&'a str, usize>,
    constants: HashMap<&'a str, Tensor<'a>>,
    inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
}

impl<'a> Graph<'a> {
    /// Reads a model file.
    ///
    /// # Errors
    /// If it is damaged, has functions or operators beyond ONNX's own, or keeps constants in other files.
    pub fn read(file: &'a [u8]) -> Matched<Self> {
        let mut graph = None;
        fields(file, |number, value| {
            match number {
                7 => graph = Some(Self::read_graph(value.bytes()?)?),
                25 => return Refusal::because("it defines functions"),
                _ => {}
            }
            Ok(())
        })?;
        graph.map_or_else(|| Refusal::because("the file is not an ONNX model"), Ok)
    }

    fn read_graph(message: &'a [u8]) -> Matched<Self> {
        let mut graph = Self::default();
        fields(message, |number, value| {
            match number {
                1 => graph.add(Node::read(value.bytes()?)?),
                5 => {
                    let tensor = Tensor::read(value.bytes()?)?;
                    graph.constants.insert(tensor.name, tensor);
                }
                11 => graph.inputs.push(name_of(value)?),
                12 => graph.outputs.push(name_of(value)?),
                15 => return Refusal::because("it has sparse constants"),
                _ => {}
            }
            Ok(())
        })?;
        Ok(graph)
    }

    fn add(&mut self, mut node: Node<'a>) {
        if node.operator == "Constant"
            && let [output] = node.outputs[..]
            && let Some(tensor) = node.attributes.iter_mut().find_map(|attribute| attribute.tensor.take())
        {
            self.constants.insert(output, tensor);
            return;
        }
        for output in &node.outputs {
            self.makers.insert(output, self.nodes.len());
        }
        self.nodes.push(node);
    }

    pub fn constant(&self, value: &str) -> Option<&Tensor<'a>> {
        self.constants.get(self.origin(value))
    }

    /// The node that makes a value; none of an input or a constant.
    pub fn maker(&self, value: &str) -> Option<&Node<'a>> {
        self.makers.get(self.origin(value)).map(|at| &self.nodes[*at])
    }

    pub fn is_input(&self, value: &str) -> bool {
        !self.constants.contains_key(value) && self.inputs.contains(&value)
    }

    /// The value behind `Identity`.
    pub fn origin<'b>(&'b self, value: &'b str) -> &'b str {
        let mut value = value;
        // A damaged file may have a circle.
        for _ in 0..self.nodes.len() {
            match self.makers.get(value).map(|at| &self.nodes[*at]) {
                Some(node) if node.operator == "Identity" && node.input(0).is_some() => value = node.inputs[0],
                _ => break,
            }
        }
        value
    }
}

fn name_of<'a>(value: Value<'a>) -> Matched<&'a str> {
    let mut name = "";
    fields(value.bytes()?, |number, value| {
        if number == 1 {
            name = value.text()?;
        }
        Ok(())
    })?;
    Ok(name)
}
