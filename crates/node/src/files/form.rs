//! How files are read, for JavaScript.

use crate::check::whole;
use crate::error::{Failure, unknown};
use napi_derive::napi;
use simhash_dedup::{DedupError, Encoding, Fields, Form, Format};

/// How files are read, as far as they do not say it themselves.
#[napi(object, object_to_js = false)]
pub struct NativeForm {
    /// At least one; several are joined.
    pub text_fields: Vec<String>,
    pub id_field: String,
    #[napi(ts_type = "'jsonl' | 'json' | 'csv' | 'tsv' | 'lines' | 'files' | 'parquet' | 'arrow'")]
    pub format: Option<String>,
    /// Of a file that does not say it; absent: JSON lines.
    #[napi(ts_type = "'lines'")]
    pub otherwise: Option<String>,
    pub encoding: Option<String>,
    pub header: bool,
    pub delimiter: Option<String>,
    /// A whole number.
    pub max_record: Option<f64>,
    pub cut_after: Vec<String>,
}

impl NativeForm {
    pub(crate) fn core(&self) -> Result<(Fields, Form), Failure> {
        let (first, more) =
            self.text_fields.split_first().map_or(("text", &[][..]), |(a, b)| (a, b));
        let fields = Fields::new(first, &self.id_field)
            .and_then(|fields| fields.with_more(more.iter().map(String::as_str)));
        let fields = fields.map_err(DedupError::from)?;
        let named = |name: &Option<String>| match name.as_deref() {
            None => Ok(None),
            Some(name) => Format::named(name).map(Some).ok_or_else(|| unknown("format", name)),
        };
        let usual = Form::default();
        let most = self.max_record.map(|bytes| whole(bytes, "maxRecord")).transpose()?;
        let most = most.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let form = Form {
            format: named(&self.format)?,
            otherwise: named(&self.otherwise)?.unwrap_or(usual.otherwise),
            encoding: encoding("encoding", self.encoding.as_deref())?,
            header: self.header,
            delimiter: self.delimiter.as_ref().and_then(|sign| sign.bytes().next()),
            max_record: most.unwrap_or(usual.max_record),
            cut_after: self.cut_after.clone(),
        };
        form.check().map_err(DedupError::from)?;
        Ok((fields, form))
    }
}

/// An encoding by its name.
pub(crate) fn encoding(
    argument: &'static str,
    name: Option<&str>,
) -> Result<Option<Encoding>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let expected = "an encoding, such as utf-8, utf-16le, gb18030, gbk or big5";
    let unknown = || DedupError::Option { argument, value: format!("'{name}'"), expected };
    Ok(Some(Encoding::named(name).ok_or_else(unknown)?))
}
