//! The wire format of Protocol Buffers: numbered fields, one after the other.

use super::refusal::{Matched, Refusal};

/// A field's value. Groups, which ONNX does not use, are refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed32([u8; 4]),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
}

const DAMAGED: &str = "the file is not a whole ONNX model";

fn damaged<T>() -> Matched<T> {
    Refusal::because(DAMAGED)
}

impl<'a> Value<'a> {
    pub fn bytes(self) -> Matched<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => damaged(),
        }
    }

    pub fn text(self) -> Matched<&'a str> {
        std::str::from_utf8(self.bytes()?).or_else(|_| damaged())
    }

    pub fn whole(self) -> Matched<i64> {
        match self {
            Self::Varint(value) => Ok(value as i64),
            _ => damaged(),
        }
    }

    pub fn float(self) -> Matched<f32> {
        match self {
            Self::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => damaged(),
        }
    }

    /// Appends a repeated number, which may be packed.
    pub fn append_whole(self, to: &mut Vec<i64>) -> Matched<()> {
        match self {
            Self::Varint(value) => to.push(value as i64),
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    to.push(varint(&mut packed)? as i64);
                }
            }
            _ => return damaged(),
        }
        Ok(())
    }

    /// Appends a repeated float, which may be packed.
    pub fn append_floats(self, to: &mut Vec<f32>) -> Matched<()> {
        match self {
            Self::Fixed32(bytes) => to.push(f32::from_le_bytes(bytes)),
            Self::Bytes(packed) => {
                let (floats, rest) = packed.as_chunks::<4>();
                if !rest.is_empty() {
                    return damaged();
                }
                to.extend(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            _ => return damaged(),
        }
        Ok(())
    }
}

/// Calls `each` with the number and the value of every field of a message.
pub fn fields<'a>(mut message: &'a [u8], mut each: impl FnMut(u64, Value<'a>) -> Matched<()>) -> Matched<()> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut message)?),
            1 => Value::Fixed64(fixed(&mut message)?),
            2 => {
                let length = usize::try_from(varint(&mut message)?).or_else(|_| damaged())?;
                Value::Bytes(taken(&mut message, length)?)
            }
            5 => Value::Fixed32(fixed(&mut message)?),
            _ => return damaged(),
        };
        each(key >> 3, value)?;
    }
    Ok(())
}

fn taken<'a>(message: &mut &'a [u8], length: usize) -> Matched<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(length).map_or_else(damaged, Ok)?;
    *message = rest;
    Ok(taken)
}

fn fixed<const N: usize>(message: &mut &[u8]) -> Matched<[u8; N]> {
    taken(message, N)?.try_into().or_else(|_| damaged())
}

fn varint(message: &mut &[u8]) -> Matched<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let [byte] = fixed(message)?;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(value);
        }
    }
    damaged()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(message: &[u8]) -> Matched<Vec<(u64, Value<'_>)>> {
        let mut found = Vec::new();
        fields(message, |number, value| {
            found.push((number, value));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn every_wire_type_is_read() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'o', b'k', 0x1d, 0, 0, 128, 63, 0x21, 1, 0, 0, 0, 0, 0, 0, 0];
        let found = all(&message).unwrap();
        assert_eq!(found[0], (1, Value::Varint(150)));
        assert_eq!(found[1].1.text(), Ok("ok"));
        assert_eq!(found[2].1.float(), Ok(1.0));
        assert_eq!(found[3], (4, Value::Fixed64([1, 0, 0, 0, 0, 0, 0, 0])));
    }

    #[test]
    fn negative_and_packed_numbers_are_read() {
        let mut numbers = Vec::new();
        Value::Bytes(&[3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).append_whole(&mut numbers).unwrap();
        assert_eq!(numbers, [3, -1]);
        let mut floats = Vec::new();
        Value::Bytes(&[0, 0, 128, 63, 0, 0, 0, 64]).append_floats(&mut floats).unwrap();
        assert_eq!(floats, [1.0, 2.0]);
    }

    #[test]
    fn messages_that_end_early_are_refused() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'o', b'k'];
        for length in [1, 2, 4, 5, 6] {
            assert!(all(&message[..length]).is_err(), "{length}");
        }
        assert!(
            all(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]).is_err(),
            "a length beyond the file"
        );
        assert!(all(&[0x0b]).is_err(), "a group");
        assert!(all(&[0xff; 11]).is_err(), "a number of more than 64 bits");
    }
}
