//! Attributes of a node.

use super::refusal::Matched;
use super::tensor::Tensor;
use super::wire::fields;

#[derive(Debug, Default, Clone)]
pub struct Attribute<'a> {
    pub name: &'a str,
    pub float: f32,
    pub whole: i64,
    pub list: Vec<i64>,
    pub floats: Vec<f32>,
    pub tensor: Option<Tensor<'a>>,
}

impl<'a> Attribute<'a> {
    pub fn read(message: &'a [u8]) -> Matched<Self> {
        let mut attribute = Self::default();
        fields(message, |number, value| {
            match number {
                1 => attribute.name = value.text()?,
                2 => attribute.float = value.float()?,
                3 => attribute.whole = value.whole()?,
                5 => attribute.tensor = Some(Tensor::read(value.bytes()?)?),
                7 => value.append_floats(&mut attribute.floats)?,
                8 => value.append_whole(&mut attribute.list)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(attribute)
    }
}
