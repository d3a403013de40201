use super::*;
use crate::field::Fields;
use crate::form::{Form, MAX_RECORD_BYTES};
use proptest::prelude::*;
use std::path::Path;

const BOM: &[u8] = b"\xef\xbb\xbf";

fn reader(bytes: &[u8], form: &Form, block_bytes: usize) -> Reader<'static> {
    let layout = Arc::new(Layout::new(Path::new("in"), &Fields::default(), form));
    Reader::with_blocks(0, layout, Box::new(io::Cursor::new(bytes.to_vec())), block_bytes)
}

fn lines(max_record: usize) -> Form {
    Form { max_record, ..Form::json_lines() }
}

/// Gives a few bytes at a time, and is interrupted between.
struct Pieces<'b>(&'b [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = (self.1 % 5 + 1).min(to.len());
        self.0.read(&mut to[..most])
    }
}

fn read_all(bytes: &[u8], form: &Form, block_bytes: usize) -> Vec<(u64, u64, Vec<u8>)> {
    let all = all_of(reader(bytes, form, block_bytes));
    let layout = Arc::new(Layout::new(Path::new("in"), &Fields::default(), form));
    let pieces = Reader::with_blocks(0, layout, Box::new(Pieces(bytes, 0)), block_bytes);
    assert_eq!(all_of(pieces), all);
    all
}

fn all_of(mut reader: Reader<'_>) -> Vec<(u64, u64, Vec<u8>)> {
    let mut lines = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        assert_eq!(block.length, block.bytes.len() as u64);
        for line in &block.lines {
            let at = block.offset + line.range.start as u64;
            lines.push((line.number, at, block.bytes_of(line).to_vec()));
        }
    }
    lines
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

proptest! {
    #[test]
    fn block_size_changes_no_line(
        bytes in proptest::collection::vec(
            prop_oneof![3 => Just(b'\n'), 1 => Just(b' '), 1 => Just(b'\r'), 5 => any::<u8>()],
            0..200,
        ),
        bom in any::<bool>(),
    ) {
        let mut input = if bom { BOM.to_vec() } else { Vec::new() };
        input.extend(&bytes);
        let body = input.strip_prefix(BOM).unwrap_or(&input);
        let skipped = (input.len() - body.len()) as u64;
        let mut at = skipped;
        let mut expected = Vec::new();
        for (number, line) in (1..).zip(body.split(|&byte| byte == b'\n')) {
            if !is_blank(line) {
                expected.push((number, at, line.to_vec()));
            }
            at += line.len() as u64 + 1;
        }
        for block_bytes in [3, 7, 64, 1 << 20] {
            prop_assert_eq!(read_all(&input, &lines(MAX_RECORD_BYTES), block_bytes), expected.clone());
        }
    }

    #[test]
    fn the_longest_line_is_one_limit_whatever_the_blocks(
        lengths in proptest::collection::vec(0usize..40, 0..12),
        bom in any::<bool>(),
        ended in any::<bool>(),
    ) {
        let mut input = if bom { BOM.to_vec() } else { Vec::new() };
        let mut expected = Vec::new();
        for (number, &length) in (1..).zip(&lengths) {
            let at = input.len() as u64;
            input.resize(input.len() + length, b'x');
            input.push(b'\n');
            if length > 0 {
                let told = format!("longer than 16 bytes: {length} bytes");
                expected.push((number, at, (length > 16).then_some(told)));
            }
        }
        if !ended && input.ends_with(b"\n") {
            input.pop();
        }
        for block_bytes in [4, 7, 64] {
            let mut reader = reader(&input, &lines(16), block_bytes);
            let (mut found, mut length) = (Vec::new(), 0);
            while let Some(block) = reader.next_block().unwrap() {
                prop_assert_eq!(block.offset, length);
                length += block.length;
                for line in &block.lines {
                    let at = block.offset + line.range.start as u64;
                    found.push((line.number, at, line.fault.as_ref().map(ToString::to_string)));
                }
            }
            prop_assert_eq!(length, input.len() as u64);
            prop_assert_eq!(&found, &expected);
        }
    }

    /// Rows as a second reader sees them, one character at a time.
    #[test]
    fn rows_are_those_of_a_slow_reader(row in r#"[ab,\n\r"]{0,60}"#, ended in any::<bool>()) {
        let input = if ended { format!("{row}\n") } else { row };
        let form = Form { format: Some(Format::Csv), header: false, ..Form::default() };
        let fields = Fields::new("1", "id").unwrap();
        let rows = |block_bytes: usize| -> Result<Vec<(u64, Vec<u8>)>, String> {
            let layout = Arc::new(Layout::new(Path::new("in"), &fields, &form));
            let from = Box::new(io::Cursor::new(input.clone().into_bytes()));
            let mut reader = Reader::with_blocks(0, layout, from, block_bytes);
            let mut rows = Vec::new();
            while let Some(block) = reader.next_block().map_err(|error| error.to_string())? {
                rows.extend(block.lines.iter().map(|line| (line.number, block.bytes_of(line).to_vec())));
            }
            Ok(rows)
        };
        let expected = slow_rows(&input);
        for block_bytes in [4, 5, 64] {
            let found = rows(block_bytes);
            match &expected {
                Some(expected) => prop_assert_eq!(found.as_ref(), Ok(expected)),
                None => prop_assert!(found.is_err_and(|told| told.contains("never closed"))),
            }
        }
    }
}

/// `None`: a quote is left open.
fn slow_rows(input: &str) -> Option<Vec<(u64, Vec<u8>)>> {
    let bytes = input.as_bytes();
    let (mut rows, mut row, mut line, mut first) = (Vec::new(), Vec::new(), 1, 1);
    let (mut quoted, mut at_start, mut at) = (false, true, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        let begins = std::mem::replace(&mut at_start, !quoted && byte == b',');
        match byte {
            b'"' if quoted && bytes.get(at + 1) == Some(&b'"') => {
                row.push(byte);
                at += 1;
            }
            b'"' if quoted => quoted = false,
            b'"' if begins => quoted = true,
            b'\n' if !quoted => {
                let done = std::mem::take(&mut row);
                if done.iter().any(|&byte| byte != b'\r') {
                    rows.push((first, done));
                }
                line += 1;
                first = line;
                at_start = true;
                at += 1;
                continue;
            }
            b'\n' => line += 1,
            _ => {}
        }
        row.push(byte);
        at += 1;
    }
    if row.iter().any(|&byte| byte != b'\r') {
        rows.push((first, row));
    }
    (!quoted).then_some(rows)
}

#[test]
fn blank_lines_are_lines_of_text() {
    let numbers = |format| {
        let form = Form { format: Some(format), ..Form::default() };
        let lines = read_all(b"\n \r\nx\n\n", &form, 64);
        lines.into_iter().map(|line| line.0).collect::<Vec<_>>()
    };
    assert_eq!((numbers(Format::JsonLines), numbers(Format::Lines)), (vec![3], vec![1, 2, 3, 4]));
}

#[test]
fn positions_find_the_bytes_again() {
    let input = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \nlast without newline";
    for (number, at, line) in read_all(input, &lines(1 << 20), 5) {
        assert_eq!(&input[at as usize..at as usize + line.len()], line, "line {number}");
    }
}

#[test]
fn elements_of_an_array_are_found_wherever_blocks_end() {
    let elements = [
        r#"{"text":"a \" ] } , \\","x":[{"y":"]"},[]]}"#,
        "12.5e3",
        "\"a string, of \\\"one\\\"\"",
        "null",
        "{}",
        "[[],{\"a\":\"[\"}]",
    ];
    let form = Form { format: Some(Format::JsonArray), ..Form::default() };
    for (before, between, after) in [("[", ",", "]"), (" [\r\n", "\n ,\t", "\n]\n ")] {
        let input = format!("{before}{}{after}", elements.join(between));
        for block_bytes in [4, 7, 13, 1 << 20] {
            let found = read_all(input.as_bytes(), &form, block_bytes);
            let texts: Vec<&str> =
                found.iter().map(|line| std::str::from_utf8(&line.2).unwrap()).collect();
            assert_eq!(texts, elements, "{block_bytes}");
            assert!(found.iter().map(|line| line.0).eq(1..=6));
            for (_, at, element) in &found {
                assert!(input.as_bytes()[*at as usize..].starts_with(element));
            }
        }
    }
    assert_eq!(read_all(b" [ ] ", &form, 64), []);
    assert_eq!(read_all(b"", &form, 64), []);
}

#[test]
fn an_array_that_is_none_is_an_error_that_names_the_element() {
    let form = Form { format: Some(Format::JsonArray), ..Form::default() };
    for (input, told) in [
        ("{}", "does not begin with ["),
        ("[{}", "after element 1: the file ends before the array does"),
        ("[{},{\"a\":\"", "after element 1: the file ends within the next one"),
        ("[1 2]", "after element 1: neither , nor ] comes after it"),
        ("[1,]", "after element 1: there is no value"),
        ("[,1]", "after element 0: there is no value"),
        ("[1] x", "something comes after the end of the JSON array"),
    ] {
        let mut reader = reader(input.as_bytes(), &form, 64);
        let error = loop {
            match reader.next_block() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{input} is read"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains(told), "{input}: {error}");
    }
}

#[test]
fn a_quote_that_stays_open_names_its_line() {
    let form = Form { format: Some(Format::Csv), max_record: 64, ..Form::default() };
    let error = |input: &str, block_bytes| {
        let mut reader = reader(input.as_bytes(), &form, block_bytes);
        loop {
            match reader.next_block() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{input} is read"),
                Err(error) => break error.to_string(),
            }
        }
    };
    let open = "id,text\n1,\"two\nlines\"\n2,\"never\nclosed";
    for block_bytes in [4, 1 << 20] {
        assert!(error(open, block_bytes).contains("on line 4 is never closed"));
        let told = error(&format!("{open}{}", "x\n".repeat(500)), block_bytes.min(32));
        assert!(told.contains("on line 4 is not closed within 64 bytes"), "{told}");
    }
}

#[test]
fn encodings_are_found_behind_any_beginning_of_ascii() {
    let news = "今天上午，北京市召开新闻发布会，介绍城市交通建设的最新进展情况。";
    let text =
        format!("{}{{\"text\":\"{news}\"}}\n", "{\"text\":\"only ASCII\"}\n".repeat(100_000));
    for name in ["utf-8", "gb18030", "utf-16le", "utf-16be"] {
        let encoding = Encoding::named(name).unwrap();
        let mut reader = reader(&encoding.encode(&text).unwrap(), &Form::default(), 1 << 20);
        let mut last = String::new();
        while let Some(block) = reader.next_block().unwrap() {
            for line in &block.lines {
                last = block.layout.record(block.bytes_of(line)).unwrap().text.into_owned();
            }
        }
        assert_eq!((reader.layout.encoding(), last.as_str()), (encoding, news));
    }
}

proptest! {
    /// Blocks that are UTF-8, some that are not, and records that are none: what is looked at as a whole says the same as each by itself.
    #[test]
    fn a_block_that_is_checked_says_of_each_record_what_it_says_by_itself(
        lines in proptest::collection::vec(
            prop_oneof![
                4 => "[a新闻é😀\\\\\"]{0,6}".prop_map(|text| format!("{{\"text\":{}}}", serde_json::json!(text)).into_bytes()),
                1 => proptest::collection::vec(any::<u8>().prop_filter("a line", |&byte| byte != b'\n'), 0..6),
                1 => Just(b"{\"text\":1}".to_vec()),
            ],
            0..30,
        ),
        block_bytes in 3..200_usize,
        encoding in prop::sample::select(vec![None, Some("utf-8"), Some("gb18030"), Some("utf-16le")]),
        format in prop::sample::select(vec![None, Some(Format::JsonLines), Some(Format::Lines), Some(Format::JsonArray)]),
        is_marked in any::<bool>(),
    ) {
        let form = Form { encoding: encoding.and_then(Encoding::named), format, ..Form::default() };
        let mark = if is_marked { BOM } else { &[] };
        let bytes = [mark, &lines.join(&b'\n')].concat();
        let mut reader = reader(&bytes, &form, block_bytes);
        while let Ok(Some(block)) = reader.next_block() {
            let checked = block.checked();
            for line in &block.lines {
                prop_assert_eq!(checked.record(line), block.layout.record(block.bytes_of(line)));
            }
        }
    }
}

#[test]
fn one_byte_is_no_bytes() {
    assert_eq!(&*too_long(2, 1), "longer than 1 byte: 2 bytes");
    assert_eq!(&*too_long(1_234_567, 1000), "longer than 1,000 bytes: 1,234,567 bytes");
}
