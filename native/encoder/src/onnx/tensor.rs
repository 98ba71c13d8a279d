//! A constant of a graph.

use std::borrow::Cow;

use super::half::wide;
use super::refusal::{Matched, Refusal, require};
use super::wire::{Value, fields};

/// Types of elements, by their numbers in `onnx.proto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    F32,
    U8,
    I8,
    I32,
    I64,
    F16,
    Other(i64),
}

impl Element {
    pub fn of(number: i64) -> Self {
        match number {
            1 => Self::F32,
            2 => Self::U8,
            3 => Self::I8,
            6 => Self::I32,
            7 => Self::I64,
            10 => Self::F16,
            other => Self::Other(other),
        }
    }

    /// Bytes of an element; none of a type that no pattern has.
    fn size(self) -> Option<usize> {
        match self {
            Self::F32 | Self::I32 => Some(4),
            Self::U8 | Self::I8 => Some(1),
            Self::I64 => Some(8),
            Self::F16 => Some(2),
            Self::Other(_) => None,
        }
    }
}

/// A constant in row-major order.
#[derive(Debug, Clone)]
pub struct Tensor<'a> {
    pub name: &'a str,
    pub shape: Vec<usize>,
    pub element: Element,
    /// Little-endian elements.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> Tensor<'a> {
    /// # Errors
    /// If the data lie in another file, or do not have the size of the shape.
    pub fn read(message: &'a [u8]) -> Matched<Self> {
        let (mut name, mut dims, mut element) = ("", Vec::new(), Element::Other(0));
        let (mut floats, mut whole, mut raw, mut external) = (Vec::new(), Vec::new(), None, false);
        fields(message, |number, value| {
            match number {
                1 => value.append_whole(&mut dims)?,
                2 => element = Element::of(value.whole()?),
                4 => value.append_floats(&mut floats)?,
                5 | 7 => value.append_whole(&mut whole)?,
                8 => name = value.text()?,
                9 => raw = Some(value.bytes()?),
                13 => external = true,
                14 => external |= value != Value::Varint(0),
                _ => {}
            }
            Ok(())
        })?;
        require(!external, || format!("the constant {name} lies in another file"))?;
        let shape = dims.iter().map(|dim| usize::try_from(*dim)).collect::<Result<Vec<_>, _>>();
        let shape = shape.or_else(|_| Refusal::because(format!("the constant {name} has a negative size")))?;
        let bytes = raw.map_or_else(|| Cow::Owned(typed(element, &floats, &whole)), Cow::Borrowed);
        let tensor = Self { name, shape, element, bytes };
        let size = element.size().and_then(|size| tensor.count()?.checked_mul(size));
        require(size.is_none_or(|size| size == tensor.bytes.len()), || {
            format!("the constant {name} has {} bytes, which is not its shape's size", tensor.bytes.len())
        })?;
        Ok(tensor)
    }

    /// Number of elements; none if it is beyond the machine's numbers.
    fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim))
    }

    /// # Errors
    /// If the elements are neither f32 nor f16, or not all finite.
    pub fn floats(&self) -> Matched<Vec<f32>> {
        let floats: Vec<f32> = match self.element {
            Element::F32 => self.bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Element::F16 => {
                self.bytes.as_chunks::<2>().0.iter().map(|bytes| wide(u16::from_le_bytes(*bytes))).collect()
            }
            _ => return Refusal::because(format!("the constant {} is neither of f32 nor of f16", self.name)),
        };
        require(floats.iter().all(|value| value.is_finite()), || format!("the constant {} is not finite", self.name))?;
        Ok(floats)
    }

    /// # Errors
    /// If the elements are not whole numbers of 32 or 64 bits.
    pub fn whole(&self) -> Matched<Vec<i64>> {
        match self.element {
            Element::I64 => Ok(self.bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
            Element::I32 => {
                Ok(self.bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect())
            }
            _ => Refusal::because(format!("the constant {} is not of whole numbers", self.name)),
        }
    }

    /// The value of a tensor of one f32.
    pub fn scalar(&self) -> Matched<f32> {
        match self.floats()?[..] {
            [value] => Ok(value),
            _ => Refusal::because(format!("the constant {} is not one number", self.name)),
        }
    }
}

/// The bytes of a tensor whose elements stand in fields of their own.
fn typed(element: Element, floats: &[f32], whole: &[i64]) -> Vec<u8> {
    match element {
        Element::F32 => floats.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Element::U8 | Element::I8 => whole.iter().map(|value| *value as u8).collect(),
        Element::F16 => whole.iter().flat_map(|value| (*value as u16).to_le_bytes()).collect(),
        Element::I32 => whole.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect(),
        Element::I64 => whole.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Element::Other(_) => Vec::new(),
    }
}
