//! One corpus in every format, in files.

use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;
use simhash_corpus::Encoding;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Made = Result<(), Box<dyn Error>>;
/// What it is called, where it is, and the texts in it.
pub(crate) type Form<'t> = (&'static str, PathBuf, &'t [&'t str]);

/// Files of a folder at most.
const FILES: usize = 20_000;

/// Rows of a row group, of a batch.
const ROWS: usize = 10_000;

/// The texts as documents of a name, a format and, where it is not UTF-8, an encoding.
pub(crate) fn all<'t>(texts: &'t [&'t str], folder: &Path) -> Result<Vec<Form<'t>>, String> {
    let path = |name: &str| folder.join(name);
    let encoded = |name: &str, text: &str| -> Result<Vec<u8>, Box<dyn Error>> {
        let encoding = Encoding::named(name).ok_or("no such encoding")?;
        encoding.encode(text).map_err(|sign| format!("{sign} cannot be written").into())
    };
    let lines = json_lines(texts);
    let make = || -> Made {
        fs::write(path("a.jsonl"), &lines)?;
        let array = lines.trim_end().replace('\n', ",\n");
        fs::write(path("a.json"), format!("[{array}]"))?;
        fs::write(path("gb18030.csv"), encoded("gb18030", &rows(texts, ','))?)?;
        fs::write(path("a.csv"), rows(texts, ','))?;
        fs::write(path("a.tsv"), rows(texts, '\t'))?;
        let plain: String = texts.iter().flat_map(|text| [text, "\n"]).collect();
        fs::write(path("a.txt"), &plain)?;
        fs::write(path("utf-16.txt"), encoded("utf-16le", &plain)?)?;
        parquet(&path("a.parquet"), texts)?;
        arrow(&path("a.arrow"), texts)?;
        for (name, encoding) in [("texts", "utf-8"), ("gbk", "gbk")] {
            fs::create_dir(path(name))?;
            for (number, text) in texts.iter().enumerate().take(FILES) {
                fs::write(path(name).join(format!("{number}.txt")), encoded(encoding, text)?)?;
            }
        }
        packed(&path("a.jsonl"), lines.as_bytes())
    };
    make().map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = [
        ("JSON lines", "a.jsonl"),
        ("JSON array", "a.json"),
        ("CSV", "a.csv"),
        ("CSV, GB18030", "gb18030.csv"),
        ("TSV", "a.tsv"),
        ("lines", "a.txt"),
        ("lines, UTF-16", "utf-16.txt"),
        ("folder", "texts"),
        ("folder, GBK", "gbk"),
        ("Parquet", "a.parquet"),
        ("Arrow", "a.arrow"),
        ("JSON lines, zstd", "a.jsonl.zst"),
        ("JSON lines, gzip", "a.jsonl.gz"),
        ("JSON lines, bzip2", "a.jsonl.bz2"),
        ("JSON lines, xz", "a.jsonl.xz"),
    ];
    let in_it = |name: &str| {
        if name.starts_with("folder") { &texts[..texts.len().min(FILES)] } else { texts }
    };
    Ok(names.map(|(name, file)| (name, path(file), in_it(name))).into())
}

fn json_lines(texts: &[&str]) -> String {
    let line = |(id, text)| json!({ "id": id, "text": text }).to_string() + "\n";
    texts.iter().enumerate().map(line).collect()
}

fn rows(texts: &[&str], between: char) -> String {
    let row =
        |(id, text): (usize, &&str)| format!("{id}{between}\"{}\"\r\n", text.replace('"', "\"\""));
    format!("id{between}text\r\n") + &texts.iter().enumerate().map(row).collect::<String>()
}

fn parquet(path: &Path, texts: &[&str]) -> Made {
    const MESSAGE: &str = "message doc { required int64 id; required binary text (utf8); }";
    let schema = Arc::new(parse_message_type(MESSAGE)?);
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties))?;
    for (chunk, texts) in texts.chunks(ROWS).enumerate() {
        let mut group = writer.next_row_group()?;
        while let Some(mut column) = group.next_column()? {
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(to) => {
                    let ids: Vec<i64> = (0..texts.len())
                        .map(|at| (chunk * ROWS + at).cast_signed() as i64)
                        .collect();
                    to.write_batch(&ids, None, None)?;
                }
                ColumnWriter::ByteArrayColumnWriter(to) => {
                    let texts: Vec<ByteArray> =
                        texts.iter().map(|&text| ByteArray::from(text)).collect();
                    to.write_batch(&texts, None, None)?;
                }
                _ => return Err("a column that nobody wanted".into()),
            }
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn arrow(path: &Path, texts: &[&str]) -> Made {
    let fields = [("id", DataType::Int64), ("text", DataType::Utf8)]
        .map(|(name, kind)| Field::new(name, kind, false));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let mut writer = FileWriter::try_new(File::create(path)?, &schema)?;
    for (chunk, texts) in texts.chunks(ROWS).enumerate() {
        let ids = Int64Array::from_iter_values(
            (0..texts.len()).map(|at| (chunk * ROWS + at).cast_signed() as i64),
        );
        let texts = StringArray::from_iter_values(texts);
        let columns = vec![Arc::new(ids) as _, Arc::new(texts) as _];
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer.finish()?;
    Ok(())
}

/// The bytes compressed in each way, beside the file at `path`.
fn packed(path: &Path, bytes: &[u8]) -> Made {
    let file = |ending: &str| File::create(format!("{}.{ending}", path.display()));
    let mut zstd = zstd::stream::write::Encoder::new(file("zst")?, 3)?;
    zstd.write_all(bytes)?;
    zstd.finish()?;
    let mut gzip = flate2::write::GzEncoder::new(file("gz")?, flate2::Compression::default());
    gzip.write_all(bytes)?;
    gzip.finish()?;
    let mut bzip2 = bzip2::write::BzEncoder::new(file("bz2")?, bzip2::Compression::best());
    bzip2.write_all(bytes)?;
    bzip2.finish()?;
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut xz = lzma_rust2::XzWriter::new(file("xz")?, options)?;
    xz.write_all(bytes)?;
    xz.finish()?;
    Ok(())
}
