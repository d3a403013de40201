//! One corpus in every form keeps the same documents; records are written as they were read.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::forms::{Doc, array, encoding, json_lines, kept, packed, rows, run, sample, to};
use serde_json::Value;
use simhash_dedup::{
    DedupError, Duplicates, Encoding, Fields, FileOptions, Form, Format, Input, LineOutputs,
    Outputs, ReadOptions, SegmentOptions, Target, pairs_files, segment_files,
};
use std::fs;
use std::sync::atomic::AtomicBool;

#[test]
fn one_corpus_in_every_form_keeps_the_same_documents() {
    let folder = tempfile::tempdir().unwrap();
    let docs = sample();
    let plain = folder.path().join("plain.jsonl");
    fs::write(&plain, json_lines(&docs)).unwrap();
    let expected = kept(&plain, Form::default());
    assert_eq!(expected.len(), 20);
    let forms = [
        ("a.jsonl", json_lines(&docs)),
        ("a.json", array(&docs)),
        ("a.csv", rows(&docs, ',')),
        ("a.tsv", rows(&docs, '\t')),
    ];
    for (name, text) in &forms {
        for written in ["utf-8", "gb18030", "utf-16le", "utf-16be"] {
            for marked in [false, true] {
                let mark = if marked { "\u{feff}" } else { "" };
                let bytes = encoding(written).encode(&format!("{mark}{text}")).unwrap();
                for ending in ["", "gz", "zst"] {
                    let path = folder.path().join(format!("{name}.{ending}").trim_end_matches('.'));
                    fs::write(&path, packed(&bytes, ending)).unwrap();
                    let told = format!("{name} {written} {marked} {ending}");
                    assert_eq!(kept(&path, Form::default()), expected, "{told}");
                    let named = Form { encoding: Some(encoding(written)), ..Form::default() };
                    if ending.is_empty() {
                        assert_eq!(kept(&path, named), expected, "{told}");
                    }
                    fs::remove_file(&path).unwrap();
                }
            }
        }
    }
    let texts = folder.path().join("texts");
    for (number, doc) in docs.iter().enumerate() {
        let below = texts.join(format!("{}", number / 25));
        fs::create_dir_all(&below).unwrap();
        let written = encoding(["gb18030", "utf-8", "utf-16le"][number % 3]);
        let mark = if number % 3 == 2 { "\u{feff}" } else { "" };
        let bytes = written.encode(&format!("{mark}{}", doc.text)).unwrap();
        fs::write(below.join(format!("{}.txt", doc.id)), bytes).unwrap();
    }
    assert_eq!(kept(&texts, Form::default()), expected, "a folder");
}

#[test]
fn records_are_written_as_they_came_in_the_encoding_of_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs: Vec<Doc> = sample().into_iter().step_by(3).collect();
    let utf_8 = rows(&docs, ',');
    for written in ["utf-8", "gb18030", "utf-16le", "utf-16be"] {
        let encoding = encoding(written);
        // All are kept: what comes out is what went in.
        for (name, text) in
            [("t.csv", &utf_8), ("t.tsv", &rows(&docs, '\t')), ("t.jsonl", &json_lines(&docs))]
        {
            let mark =
                if encoding == Encoding::UTF_8 || written == "gb18030" { "" } else { "\u{feff}" };
            let bytes = encoding.encode(&format!("{mark}{text}")).unwrap();
            fs::write(path(name), &bytes).unwrap();
            let out = path(&format!("out-{name}"));
            let summary =
                run(&[Input::File(path(name))], &to(out.clone()), &FileOptions::default()).unwrap();
            assert_eq!(summary.kept, 20, "{name}");
            assert!(fs::read(&out).unwrap() == bytes, "{name} {written}");
            let told: Vec<&str> = summary.encodings.iter().map(|it| it.encoding.as_str()).collect();
            assert_eq!(told.len(), usize::from(written != "utf-8"), "{told:?}");
            // And in another encoding, where that is asked for.
            let outputs = Outputs { encoding: Some(Encoding::UTF_8), ..to(out.clone()) };
            run(&[Input::File(path(name))], &outputs, &FileOptions::default()).unwrap();
            assert!(fs::read_to_string(&out).unwrap() == *text, "{name} {written}");
        }
    }
    // Inputs of two encodings: UTF-8, and one header.
    fs::write(path("a.csv"), &utf_8).unwrap();
    let other = utf_8
        .replace("d0", "e0")
        .replace("引用", "转载内容说明一二三四五六七八九十甲乙丙丁戊己庚辛");
    fs::write(path("b.csv"), encoding("gb18030").encode(&other).unwrap()).unwrap();
    let inputs = [Input::File(path("a.csv")), Input::File(path("b.csv"))];
    let summary = run(&inputs, &to(path("both.csv")), &FileOptions::default()).unwrap();
    let both = fs::read_to_string(path("both.csv")).unwrap();
    assert!(both.starts_with(&utf_8) && both.matches("id,text").count() == 1);
    assert_eq!(summary.read, 40);
}

#[test]
fn arrays_and_lines_come_out_as_arrays_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs = sample();
    fs::write(path("a.json"), array(&docs)).unwrap();
    run(&[Input::File(path("a.json"))], &to(path("out.json")), &FileOptions::default()).unwrap();
    let left: Vec<Value> = serde_json::from_slice(&fs::read(path("out.json")).unwrap()).unwrap();
    assert_eq!(left.len(), 20);
    let marks = Outputs { duplicates: Duplicates::Mark, ..to(path("marked.json")) };
    run(&[Input::File(path("a.json"))], &marks, &FileOptions::default()).unwrap();
    let all: Vec<Value> = serde_json::from_slice(&fs::read(path("marked.json")).unwrap()).unwrap();
    assert_eq!(all.iter().filter(|it| it["duplicateOf"].is_string()).count(), 40);
    fs::write(path("none.json"), " [ ]\n").unwrap();
    run(&[Input::File(path("none.json"))], &to(path("out.json")), &FileOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(path("out.json")).unwrap(), "[]\n");

    let lines: String = docs.iter().map(|doc| doc.text.replace('\n', " ") + "\r\n").collect();
    fs::write(path("a.txt"), format!("\u{feff}{lines}")).unwrap();
    let summary =
        run(&[Input::File(path("a.txt"))], &to(path("out.txt")), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept), (60, 20));
    let out = fs::read_to_string(path("out.txt")).unwrap();
    let expected: String = lines.split_inclusive('\n').step_by(3).collect();
    assert_eq!(out, expected);

    // Marks have no place in a line or a row.
    fs::write(path("a.csv"), rows(&docs, ',')).unwrap();
    for name in ["a.txt", "a.csv"] {
        let marks = Outputs { duplicates: Duplicates::Mark, ..to(path("precious")) };
        let error = run(&[Input::File(path(name))], &marks, &FileOptions::default()).unwrap_err();
        assert!(matches!(error, DedupError::Option { argument: "mark", .. }), "{error}");
    }
    assert!(!path("precious").exists());
}

#[test]
fn columns_by_name_by_number_and_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    fs::write(path("h.csv"), format!("no,title,body\n1,关于召开全市旅游发展大会的通知公告及日程安排说明,\"{text}\"\n2,本市高校毕业生就业创业扶持政策解读问答汇编,{text}\n3,丙\n"))
        .unwrap();
    let form = |form: Form, fields: Fields| FileOptions { form, fields, ..FileOptions::default() };
    let run = |name: &str, options: &FileOptions| {
        run(&[Input::File(path(name))], &to(path(&format!("out-{name}"))), options)
    };
    let summary = run("h.csv", &form(Form::default(), Fields::new("body", "no").unwrap())).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (3, 1, 1));
    let reason = &summary.first_rejected[0].reason;
    assert_eq!(
        (summary.first_rejected[0].line, reason.contains("2 fields")),
        (4, true),
        "{reason}"
    );
    // Several fields are one text.
    let joined = Fields::new("title", "no").unwrap().with_more(["body"]).unwrap();
    assert_eq!(run("h.csv", &form(Form::default(), joined)).unwrap().kept, 2);
    let told = run("h.csv", &FileOptions::default()).unwrap_err().to_string();
    assert!(told.contains("no column text; its columns are no, title, body"), "{told}");

    fs::write(path("n.csv"), format!("1;甲;{text}\r\n2;乙;\"{text}\"\r\n")).unwrap();
    let headless = Form { header: false, delimiter: Some(b';'), ..Form::default() };
    let by_number = form(headless.clone(), Fields::new("3", "1").unwrap());
    let summary = run("n.csv", &by_number).unwrap();
    assert_eq!((summary.read, summary.kept), (2, 1));
    assert_eq!(fs::read_to_string(path("out-n.csv")).unwrap(), format!("1;甲;{text}\r\n"));
    let told = run("n.csv", &form(headless, Fields::default())).unwrap_err().to_string();
    assert!(told.contains("columns have numbers"), "{told}");
    assert!(told.ends_with("; name a column by `text_field: '1'`"), "{told}");
}

#[test]
fn any_sign_may_stand_between_fields_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    for sign in [b'|', b'~', b'^', b'\\', b'@', b':', b' ', 1] {
        let form = Form { delimiter: Some(sign), ..Form::default() };
        form.check().unwrap();
        let between = char::from(sign);
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let cell = |text: &str| {
            let bare = !text.contains(between) && !text.starts_with('"');
            if bare { text.to_owned() } else { quoted(text) }
        };
        for name in ["utf-8", "gb18030", "big5", "utf-16le", "shift_jis"] {
            let bytes_of = |text: &str| encoding(name).encode(text).unwrap();
            // A quote behind a character whose second byte is the sign, as if a field began there.
            let is_second = |one: &char| {
                let bytes = encoding(name).encode(&one.to_string());
                let is_wide = !name.starts_with("utf");
                is_wide && bytes.is_ok_and(|bytes| bytes.len() == 2 && bytes[1] == sign)
            };
            let seconds = ('\u{4e00}'..='\u{9fff}').filter(is_second).take(20);
            let texts: Vec<String> = seconds
                .map(|one| format!("{one}\"x"))
                .chain(["甲\"a", "a| b", "\"甲|", "~甲乙^"].map(str::to_owned))
                .collect();
            let is_wide = !name.starts_with("utf") && b"|~^\\@".contains(&sign);
            assert_eq!(texts.len() > 4, is_wide, "{name} with {between:?}");
            let mut bytes = bytes_of(&format!("id{between}text\n"));
            for (id, text) in texts.iter().enumerate() {
                bytes.extend(bytes_of(&format!("{id}{between}{}\n", cell(text))));
            }
            let (file, out) = (folder.path().join("a.csv"), folder.path().join("out.jsonl"));
            fs::write(&file, bytes).unwrap();
            let form = Form { encoding: Some(encoding(name)), ..form.clone() };
            let options = FileOptions { form, ..FileOptions::default() };
            let segments = SegmentOptions {
                json: true,
                read: ReadOptions { form: options.form.clone(), ..Default::default() },
                ..Default::default()
            };
            let outputs = LineOutputs { lines: Some(Target::File(out.clone())), rejects: None };
            let never = AtomicBool::new(false);
            let input = [Input::File(file)];
            segment_files(&input, &outputs, &segments, &|_| {}, &never).unwrap();
            let lines = fs::read_to_string(out).unwrap();
            let read: Vec<String> = lines
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
                .map(|line| {
                    let words = line["words"].as_array().unwrap();
                    words.iter().map(|word| word.as_str().unwrap()).collect()
                })
                .collect();
            assert_eq!(read, texts, "{name} with {between:?}");
        }
    }
    for sign in [b'"', b'\n', b'\r', 0, b'a', b'Z', b'7', 0xb7] {
        let refused = Form { delimiter: Some(sign), ..Form::default() }.check();
        assert!(refused.is_err(), "{sign}");
    }
}

#[test]
fn rows_count_their_fields_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.csv");
    let reason = |rows: &str| {
        fs::write(&file, rows).unwrap();
        let input = [Input::File(file.clone())];
        let summary = run(&input, &Outputs::default(), &FileOptions::default()).unwrap();
        summary.first_rejected[0].reason.clone()
    };
    assert_eq!(reason("id,text\n1,a\n2\n"), "the row has 1 field, and there are 2 columns");
    assert_eq!(reason("text\na\n2,b\n"), "the row has 2 fields, and there is 1 column");
}

#[test]
fn clusters_are_rows_where_their_name_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let ids = ["\"a,1\"", "\"b\\t\\\"2\"", "3"];
    let line = |id: &str| format!("{{\"id\":{id},\"text\":\"{text}\"}}\n");
    fs::write(path("in.jsonl"), ids.map(line).concat()).unwrap();
    for (name, expected) in [
        (
            "c.csv",
            "representative,id,similarity,distance\n\"a,1\",\"a,1\",,\n\"a,1\",\"b\t\"\"2\",1.0,\n\"a,1\",3,1.0,\n",
        ),
        (
            "c.tsv",
            "representative\tid\tsimilarity\tdistance\na,1\ta,1\t\t\na,1\t\"b\t\"\"2\"\t1.0\t\na,1\t3\t1.0\t\n",
        ),
    ] {
        let clusters = Some(Target::File(path(name)));
        let outputs = Outputs { clusters, ..Outputs::default() };
        run(&[Input::File(path("in.jsonl"))], &outputs, &FileOptions::default()).unwrap();
        assert_eq!(fs::read_to_string(path(name)).unwrap(), expected);
    }
    let lines = Some(Target::File(path("pairs.csv")));
    let outputs = LineOutputs { lines, ..LineOutputs::default() };
    let inputs = [Input::File(path("in.jsonl"))];
    let never = AtomicBool::new(false);
    pairs_files(&inputs, &outputs, &FileOptions::default(), &|_| {}, &never).unwrap();
    let expected =
        "a,b,similarity,distance,truncated\n\"a,1\",\"b\t\"\"2\",1.0,,\n\"a,1\",3,1.0,,\n";
    assert_eq!(fs::read_to_string(path("pairs.csv")).unwrap(), expected);
}

#[test]
fn every_record_of_garbage_is_kept_a_duplicate_or_rejected() {
    // A generator of its own: the same bytes in every run.
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let pieces: [&[u8]; 14] = [
        b"\n",
        b"\r\n",
        b"\"",
        b",",
        b"\t",
        b"{\"text\":\"a\"}",
        b"[",
        b"]",
        b"\xff",
        b"\0",
        "\u{feff}".as_bytes(),
        b"\xc4\xe3\xba\xc3",
        "中文".as_bytes(),
        b"text,id",
    ];
    for round in 0..400 {
        let count = random() % 40;
        let bytes: Vec<u8> = (0..count)
            .flat_map(|_| pieces[(random() % pieces.len() as u64) as usize].to_vec())
            .collect();
        for (_, format) in Format::NAMES {
            if format == Format::Files {
                continue;
            }
            for header in [false, true] {
                // Of others it is refused.
                let header = header || !matches!(format, Format::Csv | Format::Tsv);
                let form = Form { format: Some(format), header, max_record: 64, ..Form::default() };
                let fields = Fields::new(if header { "text" } else { "1" }, "id").unwrap();
                let options = FileOptions { form, fields, dry_run: true, ..FileOptions::default() };
                let input = [Input::stream("x", std::io::Cursor::new(bytes.clone()))];
                // An error names what is wrong; a summary counts every record.
                match run(&input, &Outputs::default(), &options) {
                    Ok(summary) => assert_eq!(
                        summary.read,
                        summary.kept + summary.duplicates + summary.rejected,
                        "{round}"
                    ),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}
