//! Reads the members of an untrusted JSON object, up to a number of bytes.

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// An object's members as they were sent. A repeated member counts once, with its last value, as in `JSON.parse`.
pub(crate) type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// Bytes that may still be kept.
pub(crate) struct Budget {
    left: usize,
    exceeded: bool,
}

impl Budget {
    pub(crate) fn of(bytes: usize) -> Self {
        Self { left: bytes, exceeded: false }
    }

    /// True once reading was stopped because nothing was left.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    /// Reads an object and stops where its members are more than what is left; those that are `apart` are free.
    pub(crate) fn members<'a>(
        &mut self,
        json: &'a str,
        apart: impl Fn(&str, &RawValue) -> bool,
    ) -> serde_json::Result<Members<'a>> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let members = Reading { budget: self, apart }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(members)
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        let left = self.left.checked_sub(bytes);
        self.exceeded |= left.is_none();
        self.left = left?;
        Some(())
    }
}

struct Reading<'b, F> {
    budget: &'b mut Budget,
    apart: F,
}

impl<'de, F: Fn(&str, &RawValue) -> bool> DeserializeSeed<'de> for Reading<'_, F> {
    type Value = Members<'de>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Members<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Fn(&str, &RawValue) -> bool> Visitor<'de> for Reading<'_, F> {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::new();
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
            let bytes = name.len() + if (self.apart)(&name, value) { 0 } else { value.get().len() };
            self.budget.spend(bytes).ok_or_else(|| A::Error::custom("too large"))?;
            members.insert(name, value);
        }
        Ok(members)
    }
}
