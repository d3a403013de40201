//! One corpus in every form keeps the same documents; records are written as they were read; bad files are named.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use simhash_dedup::{
    DedupError, Duplicates, Encoding, Fields, FileOptions, FingerprintOptions, Form, Format, Input,
    LineOutputs, MatchOptions, Outputs, ReadOptions, SegmentOptions, Summary, Target, dedup_files,
    dedup_new_files, fingerprint_files, match_files, pairs_files, segment_files,
};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A document of the sample.
struct Doc {
    id: String,
    text: String,
}

fn run(inputs: &[Input], outputs: &Outputs, options: &FileOptions) -> Result<Summary, DedupError> {
    dedup_files(inputs, outputs, options, &|_| {}, &AtomicBool::new(false))
}

fn to(path: PathBuf) -> Outputs {
    Outputs { records: Some(Target::File(path)), ..Outputs::default() }
}

/// News with near-duplicates, quotes, commas and newlines.
fn sample() -> Vec<Doc> {
    let words =
        ["城市", "交通", "建设", "发布会", "营业收入", "增长", "记者", "获悉", "最新", "进展"];
    let sentence = |seed: usize| -> String {
        let word = |n: usize| words[(seed * 7 + n * n + seed * n) % words.len()];
        let part = |n| [word(n), if n % 5 == 4 { "，" } else { "" }];
        (0..14).flat_map(part).collect()
    };
    (0..60)
        .map(|n| {
            let about = sentence(n / 3);
            let tail = if n % 3 == 1 { "。" } else { "" };
            let text =
                format!("{about}\"引用{}\", 第{}条\n{}{tail}", n / 3, n / 3, sentence(n / 3 + 100));
            Doc { id: format!("d{n:03}"), text }
        })
        .collect()
}

fn encoding(name: &str) -> Encoding {
    Encoding::named(name).unwrap()
}

fn json_lines(docs: &[Doc]) -> String {
    let line = |doc: &Doc| json!({ "id": doc.id, "text": doc.text }).to_string();
    docs.iter().flat_map(|doc| [line(doc), "\n".into()]).collect()
}

fn array(docs: &[Doc]) -> String {
    let all: Vec<Value> =
        docs.iter().map(|doc| json!({ "id": doc.id, "text": doc.text })).collect();
    serde_json::to_string_pretty(&all).unwrap()
}

fn rows(docs: &[Doc], delimiter: char) -> String {
    let row = |a: &str, b: &str| format!("{a}{delimiter}\"{}\"\r\n", b.replace('"', "\"\""));
    docs.iter().fold(format!("id{delimiter}text\r\n"), |all, doc| all + &row(&doc.id, &doc.text))
}

fn packed(bytes: &[u8], ending: &str) -> Vec<u8> {
    match ending {
        "gz" => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            to.write_all(bytes).unwrap();
            to.finish().unwrap()
        }
        "zst" => {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.zst");
            let mut packer = simhash_corpus::Packer::of(&path).unwrap().unwrap();
            packer.write(bytes).unwrap();
            packer.finish().unwrap()
        }
        _ => bytes.to_vec(),
    }
}

/// The ids of what is kept, in order.
fn kept(input: &Path, form: Form) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("clusters");
    let outputs = Outputs { clusters: Some(Target::File(out.clone())), ..Outputs::default() };
    let options = FileOptions { form, ..FileOptions::default() };
    let summary = run(&[Input::File(input.to_owned())], &outputs, &options).unwrap();
    assert_eq!((summary.read, summary.rejected), (60, 0), "{}", input.display());
    assert!(summary.duplicates >= 20, "{summary:?}");
    let clusters = fs::read_to_string(out).unwrap();
    let name = |id: &Value| {
        id.as_str().unwrap().rsplit(['/', '.']).find(|part| *part != "txt").unwrap().to_owned()
    };
    clusters
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|cluster| {
            let members = cluster["members"].as_array().unwrap();
            members.iter().map(|member| name(&member["id"])).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

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
fn a_folder_becomes_json_lines_or_a_list_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("texts");
    fs::create_dir(&root).unwrap();
    for doc in sample() {
        fs::write(root.join(format!("{}.txt", doc.id)), &doc.text).unwrap();
    }
    fs::write(root.join("x.txt"), b"\xff\xff\xff\xff").unwrap();
    let out = folder.path().join("out.jsonl");
    let input = || [Input::File(root.clone())];
    let summary = run(&input(), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept, summary.rejected), (61, 20, 1));
    let lines = fs::read_to_string(&out).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["text"], sample()[0].text);
    let list = Outputs { list: true, ..to(folder.path().join("list.txt")) };
    run(&input(), &list, &FileOptions::default()).unwrap();
    let list = fs::read_to_string(folder.path().join("list.txt")).unwrap();
    assert_eq!(list.lines().count(), 20);
    assert!(list.lines().all(|path| fs::metadata(path).is_ok()), "{list}");
}

#[test]
fn kept_files_are_copied_and_nothing_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs = sample();
    for (number, doc) in docs.iter().enumerate() {
        let below = path(&format!("texts/{}", number / 25));
        fs::create_dir_all(&below).unwrap();
        let bytes = encoding("gb18030").encode(&doc.text).unwrap();
        fs::write(below.join(format!("{}.txt", doc.id)), bytes).unwrap();
    }
    let copy = |name: &str| Outputs { copy: Some(path(name)), ..Outputs::default() };
    let options = FileOptions {
        form: Form { encoding: Some(encoding("gbk")), ..Form::default() },
        ..FileOptions::default()
    };
    let below = |name: &str| {
        let mut all: Vec<String> = Vec::new();
        for number in 0..3 {
            let Ok(entries) = fs::read_dir(path(&format!("{name}/{number}"))) else { continue };
            for entry in entries {
                let file = entry.unwrap().path();
                let as_it_was = path(&format!("texts/{number}")).join(file.file_name().unwrap());
                assert_eq!(fs::read(&file).unwrap(), fs::read(as_it_was).unwrap());
                all.push(file.file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
        all.sort();
        all
    };
    let expected: Vec<String> = docs.iter().step_by(3).map(|doc| doc.id.clone()).collect();
    for (from, to) in [("texts", "a"), ("texts/**/*.txt", "b")] {
        let inputs = [Input::File(path(from))];
        let summary = run(&inputs, &copy(to), &options).unwrap();
        assert_eq!((summary.read, summary.kept), (60, 20));
        assert_eq!(below(to), expected);
        // Once more: all of it is there, and stays.
        let told = run(&inputs, &copy(to), &options).unwrap_err().to_string();
        assert!(told.contains("nothing is replaced"), "{told}");
        assert_eq!(below(to), expected);
    }
    // One that is there is enough, and nothing is copied.
    fs::create_dir_all(path("c/2")).unwrap();
    fs::write(path("c/2/d057.txt"), "precious").unwrap();
    let error = run(&[Input::File(path("texts"))], &copy("c"), &options).unwrap_err();
    assert!(matches!(error, DedupError::Output { .. }), "{error}");
    assert!(!path("c/0").exists());
    assert_eq!(fs::read_to_string(path("c/2/d057.txt")).unwrap(), "precious");
    // Two inputs with a file of one name.
    let twice = [Input::File(path("texts")), Input::File(path("texts"))];
    let options = FileOptions {
        dedup: simhash_dedup::DedupOptions {
            keep: simhash_dedup::Keep::Last,
            ..Default::default()
        },
        ..options
    };
    assert_eq!(run(&twice, &copy("d"), &options).unwrap().kept, 20);
    // What is no file of text, and what has another output.
    fs::write(path("a.jsonl"), json_lines(&docs)).unwrap();
    let both = Outputs { copy: Some(path("e")), ..to(path("out.jsonl")) };
    for (input, outputs) in [("a.jsonl", copy("e")), ("texts", both)] {
        let error = run(&[Input::File(path(input))], &outputs, &options).unwrap_err();
        assert!(matches!(error, DedupError::Option { argument: "copy", .. }), "{error}");
    }
    assert!(!path("e").exists() && !path("out.jsonl").exists());
}

#[cfg(unix)]
#[test]
fn a_new_folder_of_copies_appears_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("texts/a/b")).unwrap();
    for doc in sample() {
        fs::write(path(&format!("texts/a/b/{}.txt", doc.id)), &doc.text).unwrap();
    }
    let copy = |name: &str| Outputs { copy: Some(path(name)), ..Outputs::default() };
    let input = [Input::File(path("texts"))];
    let run = |to: &str| run(&input, &copy(to), &FileOptions::default());
    // What a killed run has left goes, and is told.
    let left = path("new/.out.simhash-0.tmp");
    fs::create_dir_all(left.join("a")).unwrap();
    fs::write(left.join("a/half.txt"), "half").unwrap();
    assert_eq!(run("new/out").unwrap().leftovers, [left]);
    assert_eq!(fs::read_dir(path("new")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(path("new/out/a/b")).unwrap().count(), 20);
    // A link to nothing, and a file, are names that somebody has.
    std::os::unix::fs::symlink("nothing", path("link")).unwrap();
    fs::write(path("file"), "precious").unwrap();
    for name in ["link", "file", "file/below"] {
        assert!(run(name).is_err(), "{name}");
    }
    // In a folder that is there, beside what is in it; an error in the middle takes back what has a name already.
    fs::create_dir_all(path("old/a")).unwrap();
    fs::write(path("old/mine"), "precious").unwrap();
    assert!(run("old").unwrap().leftovers.is_empty());
    assert_eq!(fs::read_dir(path("old")).unwrap().count(), 2);
    assert_eq!(fs::read_dir(path("old/a/b")).unwrap().count(), 20);
    fs::create_dir_all(path("taken")).unwrap();
    fs::write(path("taken/a"), "precious").unwrap();
    assert!(run("taken").is_err());
    let names: Vec<_> =
        fs::read_dir(path("taken")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

/// Names are bytes on Unix: these are no UTF-8, or would be two lines.
#[cfg(target_os = "linux")]
#[test]
fn any_name_is_listed_and_copied() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("texts");
    fs::create_dir(&root).unwrap();
    let names: [&[u8]; 4] = [b"a\xff.txt", b"a\xfe.txt", b"b\nc\"\\.txt", b"\xd6\xec.txt"];
    let docs = sample();
    for (name, doc) in names.iter().zip(docs.iter().step_by(3)) {
        fs::write(root.join(OsStr::from_bytes(name)), &doc.text).unwrap();
    }
    let input = [Input::File(root.clone())];
    let to = folder.path().join("copies");
    let copy = Outputs { copy: Some(to.clone()), ..Outputs::default() };
    assert_eq!(run(&input, &copy, &FileOptions::default()).unwrap().kept, 4);
    for (name, doc) in names.iter().zip(docs.iter().step_by(3)) {
        assert_eq!(fs::read_to_string(to.join(OsStr::from_bytes(name))).unwrap(), doc.text);
    }
    let out = folder.path().join("list.txt");
    let list = Outputs { list: true, ..crate::to(out.clone()) };
    run(&input, &list, &FileOptions::default()).unwrap();
    let list = fs::read(out).unwrap();
    let lines: Vec<&[u8]> = list.split(|&byte| byte == b'\n').collect();
    let below = |name: &[u8]| [root.as_os_str().as_bytes(), b"/", name].concat();
    let quoted = [&b"\""[..], &below(b"b\\nc\\\"\\\\.txt"), b"\""].concat();
    assert_eq!(lines, [&*below(names[1]), &below(names[0]), &quoted, &below(names[3]), b""]);
    // What stands there is the name again.
    let name: String = serde_json::from_slice(&quoted).unwrap();
    assert_eq!(name.as_bytes(), below(names[2]));
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
fn a_column_that_is_not_there_says_what_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let run = |header: &str, fields: Fields| {
        let file = folder.path().join("a.csv");
        fs::write(&file, format!("{header}\n1\n")).unwrap();
        let options = FileOptions { fields, dry_run: true, ..FileOptions::default() };
        run(&[Input::File(file)], &Outputs::default(), &options).unwrap_err().to_string()
    };
    let keyed = Fields::new("text", "no").unwrap();
    let ranked = Fields::default().with_key("day").unwrap();
    for (header, fields, said) in [
        (
            "no,title,body",
            Fields::default(),
            "no column text; its columns are no, title, body; name a column by `text_field: 'NAME'`, or set \
             `header: false` if the first row is a record",
        ),
        (
            "no;text",
            Fields::default(),
            "no column text; its only column is \"no;text\"; set `delimiter: ';'` if that is between the fields, name \
             a column by `text_field: 'NAME'`, or set `header: false` if the first row is a record",
        ),
        ("no\ttext", Fields::default(), "is \"no\\ttext\"; set `delimiter: '\\t'` if"),
        ("no|text", Fields::default(), "set `delimiter: '|'` if that is between the fields"),
        ("text", keyed, "name a column by `id_field: 'NAME'`, or set `header: false`"),
        (
            "text",
            ranked,
            "only column is \"text\"; set `header: false` if the first row is a record",
        ),
    ] {
        let told = run(header, fields);
        assert!(told.contains(said), "{told}");
    }
    let long = run(&"长".repeat(500), Fields::default());
    assert!(long.chars().count() < 400, "{long}");
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
fn archives_are_called_what_they_are_wherever_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = vec![0; 1024];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    let zip = [b"PK\x03\x04", &[0; 26][..], b"a.jsonl{}"].concat();
    let lines = json_lines(&sample());
    for (name, bytes, said) in [
        ("a.zip", zip.clone(), "it is a ZIP archive; unpack it first, and give the files in it"),
        ("a.csv", zip, "it is a ZIP archive"),
        ("a.tar", tar.clone(), "it is a tar archive; unpack it first"),
        ("a.tar.gz", packed(&tar, "gz"), "it is a tar archive; unpack it first"),
        (
            "a.jsonl.gz",
            packed(&packed(lines.as_bytes(), "gz"), "gz"),
            "it is compressed twice: unpacked it is gzip; unpack it once first",
        ),
        ("a.jsonl.zst", packed(&packed(lines.as_bytes(), "gz"), "zst"), "unpacked it is gzip"),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, &bytes).unwrap();
        let stream = Input::stream("-", std::io::Cursor::new(bytes));
        for input in [Input::File(file), stream] {
            let told = run(&[input], &Outputs::default(), &FileOptions::default()).unwrap_err();
            assert!(matches!(told, DedupError::Input { .. }));
            assert!(told.to_string().contains(said), "{told}");
        }
    }
}

#[test]
fn an_option_that_is_for_none_of_the_inputs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in [
        ("a.jsonl", "{\"text\":\"甲\"}\n"),
        ("unnamed", "{\"text\":\"甲\"}\n"),
        ("array", "[{\"text\":\"甲\"}]"),
        ("a.txt", "甲\n"),
        ("a.tsv", "id\ttext\n1\t甲\n"),
        ("a.csv", "id;text\n1;甲\n"),
        ("empty.jsonl", ""),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    fs::create_dir(path("texts")).unwrap();
    fs::write(path("texts/a.txt"), "甲").unwrap();
    let run = |inputs: &[Input], form: &Form, fields: &Fields| {
        let (form, fields) = (form.clone(), fields.clone());
        let options = FileOptions { form, fields, dry_run: true, ..FileOptions::default() };
        run(inputs, &Outputs::default(), &options)
    };
    let headless = Form { header: false, ..Form::default() };
    let between = |sign| Form { delimiter: Some(sign), ..Form::default() };
    let named = Fields::new("content", "id").unwrap();
    let keyed = Fields::new("text", "no").unwrap();
    let usual = Fields::default();
    let ranked = Fields::default().with_key("day").unwrap();
    for (name, form, fields, argument, format) in [
        ("a.jsonl", &headless, &usual, "header", "JSON lines"),
        ("empty.jsonl", &headless, &usual, "header", "JSON lines"),
        ("unnamed", &headless, &usual, "header", "JSON lines"),
        ("array", &headless, &usual, "header", "a JSON array"),
        ("a.txt", &headless, &usual, "header", "lines of text"),
        ("texts", &headless, &usual, "header", "files of text"),
        ("a.jsonl", &between(b';'), &usual, "delimiter", "JSON lines"),
        ("unnamed", &between(b'\t'), &usual, "delimiter", "JSON lines"),
        ("array", &between(b';'), &usual, "delimiter", "a JSON array"),
        ("a.txt", &between(b';'), &usual, "delimiter", "lines of text"),
        ("texts", &between(b';'), &usual, "delimiter", "files of text"),
        ("a.tsv", &between(b';'), &usual, "delimiter", "TSV"),
        ("a.txt", &Form::default(), &named, "text_field", "lines of text"),
        ("texts", &Form::default(), &named, "text_field", "files of text"),
        ("a.txt", &Form::default(), &keyed, "id_field", "lines of text"),
        ("texts", &Form::default(), &ranked, "keep", "files of text"),
    ] {
        let file = path(name);
        let told = run(&[Input::File(file.clone())], form, fields).unwrap_err();
        let said = told.to_string();
        assert!(matches!(told, DedupError::Option { argument: about, .. } if about == argument));
        assert!(said.starts_with(&format!("{argument} must be left out")), "{said}");
        assert!(said.ends_with(&format!("got {} ({format})", file.display())), "{said}");
        // A stream says what it is when it is read.
        if file.is_file() && name != "empty.jsonl" {
            let stream = Input::stream(name, fs::File::open(&file).unwrap());
            let told = run(&[stream], form, fields).unwrap_err().to_string();
            assert!(told.ends_with(&format!("got {name} ({format})")), "{told}");
        }
    }
    let file = |name: &str| Input::File(path(name));
    assert_eq!(run(&[file("a.tsv")], &between(b'\t'), &usual).unwrap().kept, 1);
    // What is for the new documents need not be for the known ones, nor the other way round.
    for (new, known) in [("a.csv", "a.jsonl"), ("unnamed", "a.csv")] {
        let options = FileOptions { form: between(b';'), dry_run: true, ..FileOptions::default() };
        let (new, known, never) = ([file(new)], [file(known)], AtomicBool::new(false));
        let outputs = Outputs::default();
        let summary = dedup_new_files(&new, &known, &outputs, &options, &|_| {}, &never).unwrap();
        assert_eq!((summary.known, summary.read), (1, 1));
    }
}

#[test]
fn an_output_holds_what_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.jsonl"), json_lines(&sample())).unwrap();
    let (input, never) = ([Input::File(path("in.jsonl"))], AtomicBool::new(false));
    let lines = |name: &str| LineOutputs { lines: Some(Target::File(path(name))), rejects: None };
    let pairs = |name: &str| {
        pairs_files(&input, &lines(name), &FileOptions::default(), &|_| {}, &never).map(|_| ())
    };
    let matches = |name: &str| {
        let options = MatchOptions::default();
        match_files(&input, &input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let segments = |name: &str, json| {
        let options = SegmentOptions { json, ..SegmentOptions::default() };
        segment_files(&input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let fingerprints = |name: &str, json| {
        let options = FingerprintOptions { json, ..FingerprintOptions::default() };
        fingerprint_files(&input, &lines(name), &options, &|_| {}, &never).map(|_| ())
    };
    let clusters = |name: &str| {
        let outputs = Outputs { clusters: Some(Target::File(path(name))), ..Outputs::default() };
        run(&input, &outputs, &FileOptions::default()).map(|_| ())
    };
    let rejects = |name: &str| {
        let outputs = Outputs { rejects: Some(Target::File(path(name))), ..Outputs::default() };
        run(&input, &outputs, &FileOptions::default()).map(|_| ())
    };
    let refused = |done: Result<(), DedupError>, name: &str, about: &str, says: &str| {
        let Err(error @ DedupError::Option { argument, .. }) = done else {
            panic!("{name}: {done:?}")
        };
        assert_eq!(argument, about);
        assert!(error.to_string().contains(says) && !path(name).exists(), "{error}");
    };
    for name in ["x.csv", "x.tsv.gz", "x.parquet", "x.arrow"] {
        refused(matches(name), name, "output", "JSON lines, as x.jsonl: nothing else");
        refused(segments(name, true), name, "output", "JSON lines, as x.jsonl: nothing else");
        refused(segments(name, false), name, "output", "lines of text, as x.txt: nothing else");
        refused(rejects(name), name, "rejects", "JSON lines, as x.jsonl: nothing else");
    }
    for name in ["x.parquet", "x.feather"] {
        refused(pairs(name), name, "output", "JSON lines, CSV or TSV");
        refused(clusters(name), name, "clusters", "JSON lines, CSV or TSV");
    }
    for name in ["x.jsonl", "x.ndjson.zst"] {
        refused(segments(name, false), name, "output", "unless JSON lines are asked for");
        refused(fingerprints(name, false), name, "output", "unless JSON lines are asked for");
    }
    for (done, name) in [
        (pairs("p.csv"), "p.csv"),
        (clusters("c.tsv"), "c.tsv"),
        (matches("m.jsonl"), "m.jsonl"),
        (matches("m.txt"), "m.txt"),
        (segments("s.jsonl.gz", true), "s.jsonl.gz"),
        (segments("s.txt", false), "s.txt"),
        (fingerprints("f.tsv", false), "f.tsv"),
        (fingerprints("f", true), "f"),
        (rejects("r.ndjson"), "r.ndjson"),
    ] {
        done.unwrap();
        assert!(path(name).exists(), "{name}");
    }
}

#[test]
fn files_of_a_pattern_are_read_in_the_order_of_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let docs = sample();
    for (place, docs) in docs.chunks(20).enumerate() {
        fs::create_dir_all(path(&format!("{place}"))).unwrap();
        fs::write(path(&format!("{place}/part.jsonl")), json_lines(docs)).unwrap();
        for doc in docs {
            fs::write(path(&format!("{place}/{}.txt", doc.id)), &doc.text).unwrap();
        }
    }
    let input = |name: &str| [Input::File(path(name))];
    let out = path("out.jsonl");
    let summary = run(&input("*/part.jsonl"), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept), (60, 20));
    let expected: String =
        docs.iter().step_by(3).map(|doc| json_lines(std::slice::from_ref(doc))).collect();
    assert_eq!(fs::read_to_string(&out).unwrap(), expected);
    // Texts are a document each, as in a folder; named as lines they are not.
    let summary = run(&input("**/*.txt"), &to(out.clone()), &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.kept), (60, 20));
    let first = fs::read_to_string(&out).unwrap();
    assert!(first.lines().next().unwrap().contains("/0/d000.txt"), "{first}");
    let lines = Form { format: Some(Format::Lines), ..Form::default() };
    let options = FileOptions { form: lines, ..FileOptions::default() };
    assert_eq!(run(&input("**/*.txt"), &Outputs::default(), &options).unwrap().read, 120);
    let told = run(&input("*.csv"), &to(out.clone()), &FileOptions::default()).unwrap_err();
    assert!(told.to_string().contains("no file has a name like this"), "{told}");
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
fn a_first_block_without_a_record_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Three megabytes of rows of no use, and one record behind them.
    let mut lines = "{\"title\":\"a title of some words\",\"n\":1}\n".repeat(80_000);
    lines.push_str("{\"text\":\"a text\"}\n");
    fs::write(path("in.jsonl"), &lines).unwrap();
    let rejects = Some(Target::File(path("rejects")));
    let outputs = Outputs { rejects, ..to(path("precious")) };
    let input = |name: &str| [Input::File(path(name))];
    let stream = || [Input::stream("x", std::io::Cursor::new(lines.clone().into_bytes()))];
    for inputs in [&input("in.jsonl"), &stream()] {
        let error = run(inputs, &outputs, &FileOptions::default()).unwrap_err();
        let DedupError::NoRecords { rejected, text_in, .. } = &error else { panic!("{error}") };
        assert!((20_000..40_000).contains(rejected), "{rejected}");
        assert_eq!(text_in.as_deref(), Some("title"));
        assert!(error.to_string().contains("what follows was not read"), "{error}");
        let read = fs::read_to_string(path("rejects")).unwrap().lines().count();
        assert_eq!(read as u64, *rejected);
        assert!(!path("precious").exists());
    }
    // One record is enough to go on.
    fs::write(path("good.jsonl"), format!("{{\"text\":\"first\"}}\n{lines}")).unwrap();
    let summary = run(&input("good.jsonl"), &outputs, &FileOptions::default()).unwrap();
    assert_eq!((summary.read, summary.rejected), (80_002, 80_000));
}

#[test]
fn what_comes_after_a_pattern_is_not_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let text = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let line = |end: &str| format!("{{\"text\":\"{text}责任编辑：{end}\"}}\n");
    let ends = ["某某某，转载请注明出处，版权所有", "另一位，本文来自网络，观点不代表本站立场"];
    fs::write(folder.path().join("in.jsonl"), ends.map(line).concat()).unwrap();
    let input = || [Input::File(folder.path().join("in.jsonl"))];
    let count = |form: Form| {
        let options = FileOptions { form, ..FileOptions::default() };
        run(&input(), &to(folder.path().join("out.jsonl")), &options).unwrap().kept
    };
    assert_eq!(count(Form::default()), 2);
    assert_eq!(count(Form { cut_after: vec!["责任编辑".into()], ..Form::default() }), 1);
    let out = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    assert_eq!(out, line(ends[0]), "written whole");
}

#[test]
fn inputs_of_other_formats_or_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, content) in [
        ("a.csv", "id,text\n1,x\n"),
        ("b.csv", "text,id\nx,1\n"),
        ("c.jsonl", "{\"text\":\"x\"}\n"),
        ("d.json", "[{\"text\":\"x\"}]"),
    ] {
        fs::write(path(name), content).unwrap();
    }
    for (a, b, told) in [
        ("a.csv", "b.csv", "same columns"),
        ("a.csv", "c.jsonl", "one format"),
        ("c.jsonl", "d.json", "one format"),
    ] {
        let inputs = [Input::File(path(a)), Input::File(path(b))];
        let error = run(&inputs, &to(path("out")), &FileOptions::default()).unwrap_err();
        assert!(matches!(error, DedupError::Option { argument: "inputs", .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    let error = run(&[Input::File(path("a.csv"))], &to(path("out.jsonl")), &FileOptions::default());
    assert!(matches!(error, Err(DedupError::Option { argument: "output", .. })));
    assert!(!path("out").exists() && !path("out.jsonl").exists());
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

#[test]
fn a_file_that_is_damaged_or_no_text_is_a_record_that_is_rejected() {
    const TEXT: &str = "今天上午北京市召开新闻发布会介绍城市交通建设的最新进展情况";
    let folder = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(TEXT.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let mut tar = vec![0; 512];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    for (name, bytes) in [
        ("1.txt", TEXT.as_bytes()),
        ("2.txt", &packed),
        ("3.txt", &packed[..20]),
        ("4.txt", &tar),
        ("5.txt", b"PK\x03\x04 \"a\\ zip"),
        ("6.txt", b"\xff\xfe\0\0a\0\0\0"),
        ("7.txt", b"\xff\xff\xff"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let inputs = [Input::File(folder.path().to_owned())];
    let outputs = Outputs::default();
    for threads in [1, 3] {
        let mut options = FileOptions::default();
        options.dedup.threads = threads;
        let summary =
            dedup_files(&inputs, &outputs, &options, &|_| {}, &AtomicBool::new(false)).unwrap();
        assert_eq!((summary.read, summary.kept, summary.rejected), (7, 1, 5));
        let reasons: Vec<&str> =
            summary.first_rejected.iter().map(|it| it.reason.as_str()).collect();
        for (reason, says) in reasons.iter().zip([
            "3.txt: damaged gzip at byte",
            "4.txt: it is a tar archive; unpack it first",
            "5.txt: it is a ZIP archive; unpack it first",
            "6.txt: it is text in UTF-32",
            "7.txt: its bytes are no text",
        ]) {
            assert!(reason.contains(says), "{reason}");
        }
    }
}
