//! LEB128 varints of u32.

pub fn push_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads varints from a slice. `None` at its end, or if it is damaged.
pub struct Varints<'a>(pub &'a [u8]);

impl Varints<'_> {
    #[inline(always)]
    pub fn next_number(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u32::from(first));
        }
        self.long()
    }

    fn long(&mut self) -> Option<u32> {
        let mut number = 0u64;
        for (at, byte) in self.0.iter().enumerate().take(5) {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return u32::try_from(number).ok();
            }
        }
        None
    }
}
