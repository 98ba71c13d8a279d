//! The shipped text model, for the examples that measure the encoder.

use std::error::Error;

use farthing_encoder::bert::matched::{DescribedPooling, Description, matched};
use farthing_encoder::bert::pattern::Inputs;
use farthing_encoder::forward::packed::Packed;
use farthing_encoder::onnx::file::ModelFile;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/all-MiniLM-L6-v2/model_int8.onnx");

/// The model, packed. `MODEL` names another file: of the same model on a machine without the tree, or of another one whose
/// inputs and output have these names.
pub fn open() -> Result<Packed, Box<dyn Error>> {
    let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
    let pooling = DescribedPooling::InGraph;
    let description = Description { inputs, output: "sentence_embedding".into(), pooling };
    let file = ModelFile::open(std::env::var("MODEL").as_deref().unwrap_or(MODEL).as_ref())?;
    Ok(Packed::new(matched(&file, &description).map_err(|refusal| refusal.to_string())?))
}

/// Texts and the tokens of each: `8x256`, or `256` for one text.
pub fn load(load: &str) -> Result<(usize, usize), Box<dyn Error>> {
    let (texts, tokens) = load.split_once('x').unwrap_or(("1", load));
    Ok((texts.parse()?, tokens.parse()?))
}
