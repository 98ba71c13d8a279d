//! Words that are no slips, whatever an index has.

use std::fmt;
use std::sync::Arc;

/// Tells, or says why it cannot.
type Tells = dyn Fn(&str) -> Result<bool, String> + Send + Sync;

/// Tells of a word in lower case whether it is spelt right. It is asked of rare words alone. Cheap to clone; by default of no
/// word.
#[derive(Clone, Default)]
pub struct SpeltRight(Option<Arc<Tells>>);

impl SpeltRight {
    pub fn by(tells: impl Fn(&str) -> Result<bool, String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tells)))
    }

    pub fn has(&self, word: &str) -> Result<bool, String> {
        self.0.as_ref().map_or(Ok(false), |tells| tells(word))
    }

    /// Whether two are clones of one.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl fmt::Debug for SpeltRight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "SpeltRight" } else { "SpeltRight(none)" })
    }
}
