//! What holds files, or text in a form of its own: known by its first bytes, so that it is called what it is and not what it is not.

use super::Packing;

/// What an input is that cannot be read as it is, and what to do; `None` where nothing says that. `head` is what it begins with once it
/// is decompressed.
pub(crate) fn refused(head: &[u8]) -> Option<String> {
    let archive = |name: &str| format!("it is {name}; unpack it first, and give the files in it");
    let packed = |name: &str| {
        format!(
            "it is compressed by {name}, which is not read; unpack it first, or use gzip or zstd"
        )
    };
    if let Some(inner) = Packing::of(head) {
        let inner = inner.name();
        return Some(format!(
            "it is compressed twice: unpacked it is {inner}; unpack it once first"
        ));
    }
    match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some(
            "it is text in UTF-32, which is not read; convert it first, as iconv -f utf-32 -t utf-8 does".into(),
        ),
        [b'P', b'K', 3, 4, ..] if is_office(head) => Some(
            "it is a ZIP archive of the parts of an office document, as .docx, .xlsx and .pptx are; save what it says as text or CSV first".into(),
        ),
        // An empty archive is its directory alone; one in parts begins with a mark of its own.
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => {
            Some(archive("a ZIP archive"))
        }
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some(archive("a 7z archive")),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some(archive("a RAR archive")),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(packed("LZ4")),
        [0x1f, 0x9d, ..] => Some(packed("compress (.Z)")),
        [b'L', b'Z', b'I', b'P', 1, ..] => Some(packed("lzip")),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => Some(
            "it is an office document, as .doc and .xls are; save what it says as text or CSV first"
                .into(),
        ),
        [b'%', b'P', b'D', b'F', b'-', b'0'..=b'9', b'.', ..] => {
            Some("it is a PDF document; save what it says as text first".into())
        }
        // The mark of tar comes behind the name and the numbers of its first file.
        _ if head.get(257..262) == Some(b"ustar") => Some(archive("a tar archive")),
        _ => None,
    }
}

/// Whether the first file of a ZIP archive is what those of office documents begin with.
fn is_office(head: &[u8]) -> bool {
    let name = head.get(30..).unwrap_or_default();
    [&b"[Content_Types].xml"[..], b"word/", b"xl/", b"ppt/", b"_rels/", b"docProps/"]
        .iter()
        .any(|part| name.starts_with(part))
        || name.starts_with(b"mimetypeapplication/vnd.oasis.opendocument")
}
