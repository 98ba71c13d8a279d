//! A model, packed for the kernel of this process. All that open the same file share it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::bert::matched::{Description, matched};
use crate::forward::packed::Packed;
use crate::lanes::kernel::{self, Kernel};
use crate::onnx::file::ModelFile;
use crate::onnx::refusal::{Matched, Refusal};

/// Name of this encoder's vectors in the identity of the spaces that they fill. Another name goes with every
/// change of bits.
pub const ARITHMETIC: &str = "native-u8a-v1";

pub struct Model {
    pub packed: Packed,
    pub kernel: Kernel,
}

impl Model {
    /// Opens a model's file. One that is open already under the same path and description is shared; it is freed with its
    /// last user.
    ///
    /// # Errors
    /// Why this encoder does not run the model, for the operator.
    pub fn open(path: &Path, description: &Description) -> Matched<Arc<Self>> {
        type Opened = Mutex<HashMap<(PathBuf, Description), Weak<Model>>>;
        static OPENED: OnceLock<Opened> = OnceLock::new();
        let unreadable = |error: std::io::Error| Refusal(format!("{}: {error}", path.display()));
        let path = path.canonicalize().map_err(unreadable)?;
        // The lock is held while a model is packed: another thread that wants the same waits for it.
        let mut opened = OPENED.get_or_init(Default::default).lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path, description.clone());
        if let Some(model) = opened.get(&key).and_then(Weak::upgrade) {
            return Ok(model);
        }
        let kernel = kernel::chosen().map_err(Refusal)?;
        let file = ModelFile::open(&key.0).map_err(unreadable)?;
        let model = Arc::new(Self { packed: Packed::new(matched(&file, description)?), kernel });
        opened.retain(|_, model| model.strong_count() > 0);
        opened.insert(key, Arc::downgrade(&model));
        Ok(model)
    }
}
