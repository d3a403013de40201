use super::*;
use proptest::prelude::*;
use serde_json::Value;

type Read = Result<(String, Option<String>), String>;

fn read(line: &str) -> Read {
    let record = Fields::default().record(line)?;
    Ok((record.text.into_owned(), record.id.map(Cow::into_owned)))
}

#[expect(clippy::unnecessary_wraps, reason = "compared with a result")]
fn ok(text: &str, id: &str) -> Read {
    Ok((text.into(), (!id.is_empty()).then(|| id.into())))
}

#[test]
fn text_and_id_come_out_as_written() {
    assert_eq!(read(r#"{"id":"甲","text":"天气"}"#), ok("天气", r#""甲""#));
    assert_eq!(read("{\"text\":\"a\\n\\u4e2d\",\"id\": 1.50 }\r"), ok("a\n中", "1.50"));
    assert_eq!(read(r#"{"text":"","id":null}"#), ok("", ""));
    assert_eq!(read(r#"{"text":"a"}"#), ok("a", ""));
    assert_eq!(read(r#"{"\u0074ext":"a"}"#), ok("a", ""));
    assert_eq!(read("{\"text\":\"a\\u0000b\"}"), ok("a\0b", ""));
}

#[test]
fn huge_numbers_are_ids_and_ballast() {
    let digits = "9".repeat(400);
    assert_eq!(read(&format!(r#"{{"id":{digits},"text":"a","x":1e99999}}"#)), ok("a", &digits));
}

#[test]
fn the_last_of_repeated_keys_counts() {
    assert_eq!(read(r#"{"text":1,"text":"a","text":"b"}"#), ok("b", ""));
    let fields = Fields::new("a.b", "id").unwrap();
    assert_eq!(fields.record(r#"{"a":{"b":"x"},"a":{}}"#), Err("no field a.b".into()));
}

#[test]
fn paths_walk_into_objects() {
    let fields = Fields::new("doc.body.text", "doc._id").unwrap();
    let record = fields.record(r#"{"doc":{"_id":7,"body":{"x":[{}],"text":"t"}},"text":"no"}"#);
    assert_eq!(record, Ok(Record { text: "t".into(), id: Some("7".into()), key: Rank::Missing }));
    for line in [r#"{"doc":5}"#, r#"{"doc":{"body":[{"text":"t"}]}}"#, r#"{"doc":{"body":"t"}}"#] {
        assert_eq!(fields.record(line), Err("no field doc.body.text".into()), "{line}");
    }
}

#[test]
fn one_field_may_be_both() {
    let fields = Fields::new("text", "text").unwrap();
    let record = fields.record(r#"{"text":"a"}"#);
    assert_eq!(
        record,
        Ok(Record { text: "a".into(), id: Some(r#""a""#.into()), key: Rank::Missing })
    );
}

#[test]
fn reasons_say_what_is_wrong() {
    let reason = |line: &str| Fields::default().record(line).unwrap_err();
    assert_eq!(reason("[1]"), "the record is not a JSON object");
    assert_eq!(reason("\"text\""), "the record is not a JSON object");
    assert_eq!(reason(r#"{"id":1}"#), "no field text");
    assert_eq!(reason(r#"{"text":null}"#), "field text is null, not a string");
    assert_eq!(reason(r#"{"text":["a"]}"#), "field text is an array, not a string");
    let id = "field id is a boolean, not a string or a number";
    assert_eq!(reason(r#"{"text":"a","id":true}"#), id);
    for broken in ["{\"text\":\"a\"", "{\"text\":\"a\"} x", "{\"text\":\"a\0\"}", "{text:1}", "{"] {
        let reason = reason(broken);
        assert!(reason.starts_with("malformed JSON at column "), "{broken}: {reason}");
    }
}

#[test]
fn lone_surrogates_become_one_replacement_each() {
    assert_eq!(read(r#"{"text":"a\ud800b\udfffc"}"#), ok("a\u{fffd}b\u{fffd}c", ""));
    assert_eq!(read(r#"{"text":"\ud83d\ude00"}"#), ok("😀", ""));
    assert_eq!(read(r#"{"text":"\udc00\ud83d\ude00\ud800"}"#), ok("\u{fffd}😀\u{fffd}", ""));
    assert_eq!(read(r#"{"\ud800":0,"text":"a"}"#), ok("a", ""));
}

#[test]
fn deep_nesting_neither_crashes_nor_hides_the_text() {
    let deep = 200_000;
    let line = format!(r#"{{"x":{}{},"text":"a"}}"#, "[".repeat(deep), "]".repeat(deep));
    assert_eq!(read(&line), ok("a", ""));
    let unclosed = format!(r#"{{"text":"a","x":{}"#, "{\"y\":".repeat(deep));
    assert!(read(&unclosed).unwrap_err().starts_with("malformed JSON"));
    let path = vec!["a"; 1_000].join(".");
    let nested = format!("{}\"t\"{}", "{\"a\":".repeat(1_000), "}".repeat(1_000));
    let fields = Fields::new(&path, "id").unwrap();
    assert_eq!(fields.record(&nested).unwrap().text, "t");
}

#[test]
fn empty_keys_are_refused_as_options() {
    for (text, id) in [("", "id"), ("a..b", "id"), ("text", "id.")] {
        let error = Fields::new(text, id).unwrap_err();
        assert!(matches!(error, CorpusError::Option { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn arbitrary_text_never_panics(line in any::<String>()) {
        let _ = Fields::default().record(&line);
    }

    /// Bytes that are nearly JSON: accepted exactly where a full parse accepts and the text is a
    /// string. (A full parse refuses numbers beyond f64; the alphabet has no exponents.)
    #[test]
    fn agrees_with_a_full_parse(line in r#"[{}\[\]:,"a \\12u0textid]{0,12}"#, wrap in any::<bool>()) {
        let line = if wrap { format!(r#"{{"text":"{line}","x":{line}}}"#) } else { line };
        let full = serde_json::from_str::<Value>(&line).ok();
        let expected = full.as_ref().and_then(|value| value.as_object()?.get("text")?.as_str());
        let got = Fields::default().record(&line);
        let id_ok = full.as_ref().is_none_or(|value| {
            value.get("id").is_none_or(|id| id.is_string() || id.is_number() || id.is_null())
        });
        if id_ok {
            prop_assert_eq!(got.ok().map(|record| record.text.into_owned()), expected.map(str::to_owned));
        } else {
            prop_assert!(got.is_err());
        }
    }

    #[test]
    fn every_string_survives(text in any::<String>(), id in any::<String>()) {
        let line = serde_json::json!({ "x": 1, "text": text, "id": id }).to_string();
        let record = Fields::default().record(&line).unwrap();
        prop_assert_eq!(&*record.text, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&record.id.unwrap()).unwrap(), id);
    }
}
