//! Files of Parquet and Arrow, written as others write them.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_sign_loss,
    reason = "helpers of tests, each of which uses some"
)]

use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A document: its number, its text, which may be null.
pub(crate) type Doc<'a> = (i64, Option<&'a str>);

/// How a Parquet file is written.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(crate) compression: Compression,
    pub(crate) version: WriterVersion,
    /// Rows of a row group.
    pub(crate) group: usize,
    /// Values are numbered.
    pub(crate) numbered: bool,
}

impl Default for Written {
    fn default() -> Self {
        let (compression, version) = (Compression::SNAPPY, WriterVersion::PARQUET_1_0);
        Self { compression, version, group: 1000, numbered: true }
    }
}

const MESSAGE: &str = "message doc {
    required int64 id;
    optional group body { optional binary text (utf8); }
    required binary name (utf8);
    optional group tags (list) { repeated group list { optional binary element (utf8); } }
    optional int96 at;
    required fixed_len_byte_array(4) price (decimal(9,2));
    optional boolean flag;
    required double score;
    required int32 day (date);
}";

/// Writes documents with all kinds of columns: id, body.text, name (the text again, never null), tags, at, price, flag, score, day.
pub(crate) fn parquet(path: &Path, docs: &[Doc<'_>], written: Written) {
    let properties = WriterProperties::builder()
        .set_compression(written.compression)
        .set_writer_version(written.version)
        .set_dictionary_enabled(written.numbered)
        .set_key_value_metadata(Some(vec![KeyValue::new("origin".into(), "a test".to_owned())]))
        .build();
    let schema = Arc::new(parse_message_type(MESSAGE).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for docs in docs.chunks(written.group) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = 0;
        while let Some(mut to) = group.next_column().unwrap() {
            match (column, to.untyped()) {
                (0, ColumnWriter::Int64ColumnWriter(to)) => {
                    let ids: Vec<i64> = docs.iter().map(|doc| doc.0).collect();
                    to.write_batch(&ids, None, None).unwrap();
                }
                (1, ColumnWriter::ByteArrayColumnWriter(to)) => {
                    let texts: Vec<ByteArray> =
                        docs.iter().filter_map(|doc| doc.1).map(ByteArray::from).collect();
                    // Of those without text the group is null, or what it holds.
                    let level =
                        |doc: &Doc<'_>| if doc.1.is_some() { 2 } else { (doc.0 % 2) as i16 };
                    let levels: Vec<i16> = docs.iter().map(level).collect();
                    to.write_batch(&texts, Some(&levels), None).unwrap();
                }
                (2, ColumnWriter::ByteArrayColumnWriter(to)) => {
                    let names: Vec<ByteArray> =
                        docs.iter().map(|doc| doc.1.unwrap_or("none").into()).collect();
                    to.write_batch(&names, None, None).unwrap();
                }
                (3, ColumnWriter::ByteArrayColumnWriter(to)) => {
                    // Null, empty, or one to three tags, of which the second is null.
                    let (mut values, mut levels, mut depths) = (Vec::new(), Vec::new(), Vec::new());
                    for doc in docs {
                        let count = doc.0 % 5;
                        if count < 2 {
                            levels.push(count as i16);
                            depths.push(0);
                        }
                        for tag in 0..count - 1 {
                            levels.push(if tag == 1 { 2 } else { 3 });
                            depths.push(i16::from(tag > 0));
                            if tag != 1 {
                                values.push(ByteArray::from(format!("t{tag}-{}", doc.0).as_str()));
                            }
                        }
                    }
                    to.write_batch(&values, Some(&levels), Some(&depths)).unwrap();
                }
                (4, ColumnWriter::Int96ColumnWriter(to)) => {
                    let some: Vec<&Doc<'_>> = docs.iter().filter(|doc| doc.0 % 3 > 0).collect();
                    let at = |doc: &&Doc<'_>| {
                        let mut at = Int96::new();
                        at.set_data(doc.0 as u32, 7, 2_460_000);
                        at
                    };
                    let values: Vec<Int96> = some.iter().map(at).collect();
                    let levels: Vec<i16> =
                        docs.iter().map(|doc| i16::from(doc.0 % 3 > 0)).collect();
                    to.write_batch(&values, Some(&levels), None).unwrap();
                }
                (5, ColumnWriter::FixedLenByteArrayColumnWriter(to)) => {
                    let price = |doc: &Doc<'_>| {
                        let bytes = (doc.0 as i32 * 101).to_be_bytes().to_vec();
                        FixedLenByteArray::from(bytes)
                    };
                    let prices: Vec<FixedLenByteArray> = docs.iter().map(price).collect();
                    to.write_batch(&prices, None, None).unwrap();
                }
                (6, ColumnWriter::BoolColumnWriter(to)) => {
                    let values: Vec<bool> =
                        docs.iter().filter(|doc| doc.0 % 4 > 0).map(|doc| doc.0 % 2 == 0).collect();
                    let levels: Vec<i16> =
                        docs.iter().map(|doc| i16::from(doc.0 % 4 > 0)).collect();
                    to.write_batch(&values, Some(&levels), None).unwrap();
                }
                (7, ColumnWriter::DoubleColumnWriter(to)) => {
                    let scores: Vec<f64> = docs.iter().map(|doc| doc.0 as f64 / 8.0).collect();
                    to.write_batch(&scores, None, None).unwrap();
                }
                (8, ColumnWriter::Int32ColumnWriter(to)) => {
                    let days: Vec<i32> = docs.iter().map(|doc| 20_000 - doc.0 as i32).collect();
                    to.write_batch(&days, None, None).unwrap();
                }
                (column, _) => panic!("column {column} is another one"),
            }
            to.close().unwrap();
            column += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// What a Parquet file says: its schema, its metadata, the compression of its columns, its rows.
pub(crate) fn parquet_says(path: &Path) -> (String, String, Vec<Compression>, Vec<String>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let about = reader.metadata();
    let schema = format!("{:?}", about.file_metadata().schema());
    let metadata = format!("{:?}", about.file_metadata().key_value_metadata());
    let columns = about.row_groups().first().map(RowGroupMetaData::columns).unwrap_or_default();
    let compression = columns.iter().map(ColumnChunkMetaData::compression).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    (schema, metadata, compression, rows)
}

/// How the texts of an Arrow file are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Texts {
    Utf8,
    Large,
    View,
    Numbered,
}

/// A batch of documents: meta.id, body.text, and the text beside them.
pub(crate) fn batch(docs: &[Doc<'_>], texts: Texts) -> RecordBatch {
    let all = docs.iter().map(|doc| doc.1);
    let text: ArrayRef = match texts {
        Texts::Utf8 => Arc::new(all.collect::<StringArray>()),
        Texts::Large => Arc::new(all.collect::<LargeStringArray>()),
        Texts::View => {
            let mut builder = StringViewBuilder::new();
            all.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        Texts::Numbered => {
            let mut builder = StringDictionaryBuilder::<Int32Type>::new();
            all.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
    };
    let body = Field::new("text", text.data_type().clone(), true);
    let ids: ArrayRef = Arc::new(docs.iter().map(|doc| Some(doc.0)).collect::<Int64Array>());
    let days: ArrayRef = Arc::new(docs.iter().map(|doc| Some(-doc.0)).collect::<Int64Array>());
    let struct_of = StructArray::from(vec![
        (Arc::new(Field::new("day", DataType::Int64, true)), days),
        (Arc::new(body), Arc::clone(&text)),
    ]);
    let fields = vec![
        Field::new("body", struct_of.data_type().clone(), true),
        Field::new("id", DataType::Int64, true),
        Field::new("text", text.data_type().clone(), true),
    ];
    let metadata = HashMap::from([("origin".to_owned(), "a test".to_owned())]);
    let schema = Schema::new_with_metadata(fields, metadata);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(struct_of), ids, text]).unwrap()
}

/// Writes batches, as a stream or as a file.
pub(crate) fn arrow(
    path: &Path,
    batches: &[RecordBatch],
    stream: bool,
    packed: Option<CompressionType>,
) {
    let file = File::create(path).unwrap();
    let schema = batches[0].schema();
    let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        for batch in batches {
            writer.write(batch).unwrap();
        }
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write_metadata("remark", "in the footer");
        for batch in batches {
            writer.write(batch).unwrap();
        }
        writer.finish().unwrap();
    }
}

/// The rows of an Arrow file or stream, as one batch.
pub(crate) fn arrow_says(path: &Path, stream: bool) -> RecordBatch {
    let file = File::open(path).unwrap();
    if stream {
        let reader = StreamReader::try_new(file, None).unwrap();
        let schema = reader.schema();
        let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        return arrow_select::concat::concat_batches(&schema, &batches).unwrap();
    }
    let reader = FileReader::try_new(file, None).unwrap();
    assert_eq!(reader.custom_metadata()["remark"], "in the footer");
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}
