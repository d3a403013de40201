//! How characters are written: named, or found by the bytes.
//!
//! ```text
//! a mark (UTF-8, UTF-16, GB18030) ──► UTF-16 by its lanes ──► ASCII alone: nothing yet
//!                                                         └─► mostly valid UTF-8 ──► GB18030 or Big5: a guess
//! ```

use crate::guess::Guess;
use std::borrow::Cow;
use std::fmt;

/// How the characters of an input are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// What everything becomes.
    pub const UTF_8: Self = Self(encoding_rs::UTF_8);

    pub(crate) const GB18030: Self = Self(encoding_rs::GB18030);

    pub(crate) const BIG5: Self = Self(encoding_rs::BIG5);

    /// By a name of the WHATWG's list, such as `gbk`, `big5`, `utf-16le`, in any case. `None` for another, and for those that cannot be
    /// told from others by single bytes (ISO-2022-JP).
    pub fn named(name: &str) -> Option<Self> {
        // Their names say one another in files: GB18030 reads them all.
        let name = match name.to_ascii_lowercase().as_str() {
            "gbk" | "gb2312" | "cp936" => "gb18030",
            "cp950" | "big5-hkscs" => "big5",
            "utf16" => "utf-16",
            "utf16le" => "utf-16le",
            "utf16be" => "utf-16be",
            _ => name,
        };
        let found = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes())?;
        (found.is_ascii_compatible() || Self(found).is_utf_16()).then_some(Self(found))
    }

    /// Its usual name.
    pub fn name(self) -> &'static str {
        if self.0 == encoding_rs::GBK { "gb18030" } else { self.0.name() }
    }

    /// Whether it has two bytes or more for each character, and none that stand for themselves.
    pub fn is_utf_16(self) -> bool {
        self.0 == encoding_rs::UTF_16LE || self.0 == encoding_rs::UTF_16BE
    }

    pub(crate) fn is_big_endian(self) -> bool {
        self.0 == encoding_rs::UTF_16BE
    }

    /// Whether this byte is the first of two, of which the second may look like ASCII.
    pub(crate) fn is_lead(self, byte: u8) -> bool {
        use encoding_rs::{BIG5, EUC_KR, GB18030, GBK, SHIFT_JIS};
        if [GB18030, GBK, BIG5, EUC_KR].contains(&self.0) {
            (0x81..=0xfe).contains(&byte)
        } else if self.0 == SHIFT_JIS {
            matches!(byte, 0x81..=0x9f | 0xe0..=0xfc)
        } else {
            false
        }
    }

    /// The characters.
    ///
    /// # Errors
    /// The place of the first bytes that are none. Nothing is replaced.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, String> {
        // Several times as fast as the decoder.
        if self == Self::UTF_8
            && let Ok(text) = simdutf8::compat::from_utf8(bytes)
        {
            return Ok(text.into());
        }
        if let Some(text) = self.0.decode_without_bom_handling_and_without_replacement(bytes) {
            return Ok(text);
        }
        let mut decoder = self.0.new_decoder_without_bom_handling();
        let mut room = String::with_capacity(bytes.len() * 3 + 16);
        let (_, read) = decoder.decode_to_string_without_replacement(bytes, &mut room, true);
        Err(format!("invalid {} before byte {}", self.name(), read + 1))
    }

    /// The characters of a part, with U+FFFD for what are none; a cut last one is left out.
    pub(crate) fn sketched(self, part: &[u8]) -> String {
        let mut room = String::with_capacity(part.len() * 3 + 16);
        let _ = self.0.new_decoder_without_bom_handling().decode_to_string(part, &mut room, false);
        room
    }

    /// The bytes of a text.
    ///
    /// # Errors
    /// The first character that it has none for.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        if self.is_utf_16() {
            let bytes = |unit: u16| {
                if self.is_big_endian() { unit.to_be_bytes() } else { unit.to_le_bytes() }
            };
            return Ok(text.encode_utf16().flat_map(bytes).collect());
        }
        let mut encoder = self.0.new_encoder();
        let mut bytes = Vec::with_capacity(text.len() * 4 + 16);
        match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true) {
            (encoding_rs::EncoderResult::Unmappable(character), _) => Err(character),
            _ => Ok(bytes),
        }
    }

    /// The mark at the beginning, and what it says.
    pub(crate) fn of_mark(head: &[u8]) -> Option<(Self, usize)> {
        const GB18030: &[u8] = b"\x84\x31\x95\x33";
        if head.starts_with(GB18030) {
            return Some((Self(encoding_rs::GB18030), GB18030.len()));
        }
        encoding_rs::Encoding::for_bom(head).map(|(encoding, bytes)| (Self(encoding), bytes))
    }

    /// UTF-16 without a mark: of the first characters nearly all are ASCII or Chinese in the one lane, and not in the other.
    pub(crate) fn of_lanes(head: &[u8]) -> Option<Self> {
        const PAIRS: usize = 4096;
        let head = &head[..head.len().min(2 * PAIRS)];
        // Hardly any other text has a zero: it is looked for before anything is taken apart.
        memchr::memchr(0, head)?;
        let pairs: Vec<&[u8]> = head.chunks_exact(2).collect();
        if pairs.len() < 2 || !pairs.iter().flat_map(|pair| pair.iter()).any(|&byte| byte == 0) {
            return None;
        }
        // UTF-8 with a NUL now and then: of ASCII in UTF-16 half of all bytes are zeros.
        let zero_bytes = pairs.iter().flat_map(|pair| pair.iter()).filter(|&&byte| byte == 0);
        let is_cut = |error: std::str::Utf8Error| error.error_len().is_none();
        let looked_at = &head[..2 * pairs.len()];
        if std::str::from_utf8(looked_at).map_or_else(is_cut, |_| true)
            && zero_bytes.count() * 2 < pairs.len()
        {
            return None;
        }
        // A high byte of ASCII, of punctuation, of an ideograph, of a full-width form.
        let fits = |lane: usize| {
            let high = |pair: &&&[u8]| matches!(pair[lane], 0 | 0x20 | 0x30 | 0x4e..=0x9f | 0xff);
            // U+0000 is nobody's text.
            let low = |pair: &&&[u8]| pair[lane] != 0 || pair[1 - lane] != 0;
            pairs.iter().filter(high).filter(low).count() * 10 >= pairs.len() * 9
        };
        // Of ASCII both fit: its zeros are in the high bytes.
        let zeros = |lane: usize| pairs.iter().filter(|pair| pair[lane] == 0).count();
        let (little, big) = match (fits(1), fits(0)) {
            (true, true) => (zeros(1) > zeros(0), zeros(0) > zeros(1)),
            one => one,
        };
        let found = if little { encoding_rs::UTF_16LE } else { encoding_rs::UTF_16BE };
        (little != big).then_some(Self(found))
    }

    /// By bytes of which some are no ASCII; `None` where all are. `ended`: no more of them come.
    pub(crate) fn of_bytes(bytes: &[u8], ended: bool) -> Option<Self> {
        Guess::of(bytes, ended).map(|guess| guess.encoding)
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWS: &str = "今天上午，北京市召开新闻发布会，介绍城市交通建设的最新进展情况。记者从会上获悉，第一季度营业收入同比增长百分之十二。";
    const TRADITIONAL: &str = "今天上午，臺北市召開新聞發布會，介紹城市交通建設的最新進展情況。記者從會上獲悉，這個季度營業收入增長百分之十二。";

    fn named(name: &str) -> Encoding {
        Encoding::named(name).unwrap()
    }

    #[test]
    fn a_nul_in_utf_8_makes_no_utf_16() {
        let english = b"a first line about weather in the north\nsecond line about something\0 else entirely\n";
        assert!(Encoding::of_lanes(english).is_none());
        assert!(Encoding::of_lanes(format!("{NEWS}\0{NEWS}").as_bytes()).is_none());
        assert!(Encoding::of_lanes(b"AB\0CDE\0F0123456789GHIJ").is_none());
        for name in ["utf-16le", "utf-16be"] {
            for text in ["plain words", NEWS, "{\"text\":\"\u{0}\"}\n"] {
                let bytes = named(name).encode(&format!("a,{text}")).unwrap();
                assert_eq!(Encoding::of_lanes(&bytes), Some(named(name)), "{text}");
            }
        }
    }

    #[test]
    fn a_text_of_some_characters_is_chinese_where_it_can_be() {
        let found = |name: &str, text: &str| {
            Encoding::of_bytes(&named(name).encode(text).unwrap(), true).unwrap()
        };
        let sentence = "给爷爷装了个大字版输入法，他给我发的第一条消息是：字大，好，孙子也好。";
        for text in ["收到", "好的", "沙发", "转发微博", "好的👍", "第3名", sentence]
        {
            assert_eq!(found("gbk", text), named("gbk"), "{text}");
        }
        for (name, text) in [
            ("euc-kr", "오늘 오전 서울시는 기자회견을 열고 도시 교통 건설의 최신 상황을 소개했다"),
            ("windows-1251", "Сегодня утром прошла пресс-конференция"),
            ("windows-1252", "déjà vu"),
        ] {
            assert_eq!(found(name, text), Encoding::UTF_8, "{name} {text}");
        }
    }

    #[test]
    fn texts_are_known_by_their_bytes_wherever_they_are_cut() {
        for (encoding, text) in [
            (Encoding::UTF_8, NEWS),
            (Encoding::UTF_8, TRADITIONAL),
            (named("gbk"), NEWS),
            (named("big5"), TRADITIONAL),
        ] {
            let bytes = encoding.encode(&format!("id,text\n1,{text}")).unwrap();
            assert_eq!(Encoding::of_bytes(&bytes, true), Some(encoding));
            for end in 60..bytes.len() {
                assert_eq!(Encoding::of_bytes(&bytes[..end], false), Some(encoding), "{end}");
            }
            // One damaged byte among them changes nothing.
            let mut damaged = [&bytes[..], b"\n", &bytes].concat();
            damaged[40] = 0xff;
            assert_eq!(Encoding::of_bytes(&damaged, true), Some(encoding));
        }
        assert_eq!(Encoding::of_bytes(b"only ASCII", true), None);
    }

    #[test]
    fn utf_16_is_known_by_its_mark_or_its_lanes() {
        for name in ["utf-16le", "utf-16be"] {
            let encoding = named(name);
            for text in [
                format!("{{\"text\":\"{NEWS}\"}}\n"),
                "plain text\n".into(),
                format!("1\n{NEWS}\n"),
            ] {
                let bytes = encoding.encode(&text).unwrap();
                assert_eq!(Encoding::of_lanes(&bytes), Some(encoding), "{text}");
                let marked = encoding.encode(&format!("\u{feff}{text}")).unwrap();
                assert_eq!(Encoding::of_mark(&marked), Some((encoding, 2)));
            }
        }
        for other in [NEWS.as_bytes(), &named("gbk").encode(NEWS).unwrap(), b"{\"text\":\"a\0b\"}"]
        {
            assert_eq!(Encoding::of_lanes(other), None);
            assert_eq!(Encoding::of_mark(other), None);
        }
        assert_eq!(Encoding::of_mark("\u{feff}a".as_bytes()), Some((Encoding::UTF_8, 3)));
    }

    #[test]
    fn what_has_no_meaning_is_named_not_replaced() {
        let told = named("gb18030").decode(b"\xb5\xda\xff\xd2\xbb").unwrap_err();
        assert!(told.starts_with("invalid gb18030 before byte"), "{told}");
        assert_eq!(named("big5").encode("a😀"), Err('😀'));
        assert_eq!(Encoding::named("iso-2022-jp"), None);
        assert_eq!(Encoding::named("klingon"), None);
    }
}
