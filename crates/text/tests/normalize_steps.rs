//! What each optional step does, by example.

use simhash_text::normalize::Punctuation;
use simhash_text::{NormalizeScratch, Normalizer};

fn normal(normalizer: &Normalizer, text: &str) -> String {
    normalizer.apply(text, &mut NormalizeScratch::default()).to_owned()
}

#[track_caller]
fn check(normalizer: &Normalizer, golden: &[(&str, &str)]) {
    for (text, expected) in golden {
        assert_eq!(normal(normalizer, text), *expected, "{text:?}");
    }
}

#[test]
fn html_leaves_the_text_of_a_page() {
    let html = Normalizer { html: true, ..Normalizer::OFF };
    check(
        &html,
        &[
            ("<p>甲<b>乙</b>丙</p><p>丁</p>", "甲乙丙\n丁\n"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<table><tr><td>1</td><td>2</td></tr></table>", "1\n2\n"),
            ("<!DOCTYPE html><?xml version='1.0'?><html lang=zh>文</html>", "文\n"),
            ("前<!-- 注 > 释 -- -->后<!-->末", "前后末"),
            ("<script>if (a<b) x('</p>')</script>文<STYLE type='a>b'>p{}</Style >字", "文\n字"),
            ("<title>a <b> c</title>d", "a b> c\nd"),
            ("<textarea>&lt;x</textarea>", "x\n"),
            ("<a title=\"x > y\" href='?a=1>2'>链</a>", "链"),
            ("<a title=x\">链</a>", "链"),
            ("<x><![CDATA[<p>文</p> ]] ]]>后]]>", "文\n ]] 后]]>"),
        ],
    );
}

#[test]
fn html_decodes_references_after_the_tags_are_gone() {
    let html = Normalizer { html: true, ..Normalizer::OFF };
    check(
        &html,
        &[
            ("&lt;br&gt;", "br>"),
            ("Vec&lt;T&gt; &amp; x", "VecT> & x"),
            ("1 &lt; 2", "1 < 2"),
            ("&amp;lt;&amp;amp;lt;1", "<<1"),
            ("&copy2020 &eacute; &#20013;&#x6587 &#151; &hellip;", "©2020 é 中文 — …"),
            ("AT&T R&D ?a=1&b=2 & &; &x; &#; &hellip", "AT&T R&D ?a=1&b=2 & &; &x; &#; &hellip"),
            ("&am&amp;p;lt; &am&#112;;lt;", "&am&p;lt; amp;lt;"),
        ],
    );
}

#[test]
fn broken_html_loses_no_text() {
    let html = Normalizer { html: true, ..Normalizer::OFF };
    check(
        &html,
        &[
            ("a < b, 1<2, <3, <>, </3, <中>", "a < b, 1<2, <3, <>, </3, <中>"),
            ("若 a <b 则止", "若 a b 则止"),
            ("甲<a href='x' 乙<b>丙</b>", "甲a href='x' 乙丙"),
            ("甲<a title='乙>丙</a>丁", "甲丙丁"),
            ("甲<!-- 乙", "甲 乙"),
            ("甲<!doctype 乙", "甲!doctype 乙"),
            ("甲<script>乙", "甲乙"),
            ("<<b>br>", "br>"),
        ],
    );
}

#[test]
fn platform_noise_goes_and_words_stay_apart() {
    let noise = Normalizer { noise: true, ..Normalizer::OFF };
    check(
        &noise,
        &[
            ("看https://t.cn/A6x?b=1#c。好", "看。好"),
            ("see http://a.b/c, then", "see , then"),
            ("see (http://a.b) x", "see () x"),
            ("WWW.Example.com和t.cn/Zx9，mat.cn/x", "和，mat.cn/x"),
            ("写信给wang.li@mail.example.cn。", "写信给。"),
            ("a@b", "a@b"),
            ("好文//@甲乙:同意//@c_d：原文", "好文同意原文"),
            ("回复@小明:是的 @小红 来", "是的  来"),
            ("#世界杯#开始了#2026#", "开始了#2026#"),
            ("C# 和 F# 与 # 标题 #", "C# 和 F# 与 # 标题 #"),
            ("真好[哈哈][doge][1][链](x)", "真好[1][链](x)"),
            ("转发微博", "转发微博"),
            ("转发微博 你好", " 你好"),
            ("我转发微博了", "我转发微博了"),
            ("用 v1.2:3 和 12:30", "用 v1.2:3 和 12:30"),
            ("foo[doge]bar", "foo bar"),
        ],
    );
}

#[test]
fn a_text_of_noise_alone_keeps_it() {
    let noise = Normalizer { noise: true, emoji: true, ..Normalizer::OFF };
    check(
        &noise,
        &[
            ("http://t.cn/abc", "http://t.cn/abc"),
            ("@甲 @乙 [哈哈]！", "@甲 @乙 [哈哈]！"),
            ("😀😀", "😀😀"),
            ("😀 @甲", " @甲"),
        ],
    );
    assert_ne!(
        normal(&Normalizer::microblog(), "http://t.cn/abc"),
        normal(&Normalizer::microblog(), "http://t.cn/xyz")
    );
}

#[test]
fn emoji_go_as_whole_sequences() {
    let emoji = Normalizer { emoji: true, ..Normalizer::OFF };
    check(
        &emoji,
        &[
            ("好👍🏽棒❤️！👨‍👩‍👧‍👦🇨🇳", "好棒！"),
            ("ok😀ok", "ok ok"),
            ("1️⃣项 ©2020 ©️ ™ ★ ❶", "1️项 ©2020  ™ ★ ❶"),
        ],
    );
}

#[test]
fn traditional_text_becomes_simplified() {
    let simplified = Normalizer { simplified: true, ..Normalizer::OFF };
    check(
        &simplified,
        &[
            ("漢語與軟體，臺灣", "汉语与软体，台湾"),
            ("乾坤 幹部 於是 瞭解", "干坤 干部 于是 瞭解"),
            ("简体 kana かな 한국", "简体 kana かな 한국"),
        ],
    );
}

#[test]
fn invisible_characters_go() {
    let invisible = Normalizer { invisible: true, ..Normalizer::OFF };
    check(
        &invisible,
        &[
            ("a\u{200B}b\u{FEFF}c\u{AD}d\0e\u{7F}\u{85}f", "abcde\u{85}f"),
            ("\u{202E}倒\u{202C}\u{2066}序\u{2069}", "倒序"),
            ("❤\u{FE0F} 葛\u{E0100}", "❤ 葛"),
            ("a\tb\nc\r\nd\u{B}\u{C}—“é", "a\tb\nc\r\nd\u{B}\u{C}—“é"),
        ],
    );
}

#[test]
fn punctuation_goes_except_in_numbers() {
    let drop = Normalizer { punctuation: Punctuation::Drop, ..Normalizer::OFF };
    check(
        &drop,
        &[
            ("你好，世界！“引”——《书》…", "你好世界引书"),
            ("hello,world. (yes)", "hello world yes"),
            (
                "3.14 v7.5.1 12:30 1,234.5 2013-05-06 2013/05 50% -5℃ −5",
                "3.14 v7.5.1 12:30 1,234.5 2013-05-06 2013/05 50% -5℃ -5",
            ),
            ("第3集。第4集", "第3集第4集"),
            ("EP-01, C#. C++; $5", "EP-01 C# C++ $5"),
            ("1..2 --5 3–5", "1 2 -5 3-5"),
            ("３．１４，", "３．１４"),
        ],
    );
    for (a, b) in [
        ("EP01", "EP02"),
        ("第3集", "第4集"),
        ("-5", "5"),
        ("1.5", "15"),
        ("50%", "50"),
        ("C", "C#"),
    ] {
        assert_ne!(normal(&Normalizer::web(), a), normal(&Normalizer::web(), b));
        assert_ne!(normal(&Normalizer::microblog(), a), normal(&Normalizer::microblog(), b));
    }
}

#[test]
fn punctuation_folds_to_one_form() {
    let fold = Normalizer { punctuation: Punctuation::Fold, ..Normalizer::OFF };
    check(
        &fold,
        &[
            ("“你好”，「世界」、《书》。", "\"你好\",\"世界\",\"书\"."),
            ("a—b–c…【d】・ＡＢ！１", "a-b-c...[d]·ＡＢ!１"),
            ("It’s", "It's"),
        ],
    );
}

#[test]
fn long_runs_become_three_but_digits_stay() {
    let runs = Normalizer { runs: true, ..Normalizer::OFF };
    check(
        &runs,
        &[
            ("哈哈哈哈哈哈 哈哈哈 aaaab ！！！！！", "哈哈哈 哈哈哈 aaab ！！！"),
            ("1000000 １１１１１ \0\0\0\0", "1000000 １１１１１ \0\0\0"),
            ("😀😀😀😀é é é é", "😀😀😀é é é é"),
        ],
    );
}

#[test]
fn the_presets_make_copies_equal() {
    let web = Normalizer::web();
    let copies = [
        "<div><p>臺灣的資訊：ＥＰ０１，好！</p></div>",
        "台湾的资讯 EP01\u{200B}好 http://example.com/a",
        "<p>台湾的资讯&mdash;ep01&nbsp;好。</p><script>x</script>",
    ];
    for copy in copies {
        assert_eq!(normal(&web, copy), "台湾的资讯ep01好");
    }
    let post = "转发微博 //@某人: 哈哈哈哈哈哈哈哈太好了😂😂[doge] http://t.cn/x";
    assert_eq!(normal(&Normalizer::microblog(), post), "哈哈哈太好了");
}

#[test]
fn folding_can_reveal_noise_to_the_next_round() {
    assert_eq!(normal(&Normalizer::web(), "看 ｈｔｔｐ：／／ａ．ｂ 吧"), "看吧");
    assert_eq!(normal(&Normalizer::web(), "＜br＞ x"), "br x");
}

#[test]
fn plain_simplified_text_is_borrowed() {
    let text = "人工智能改变世界the quick brown fox";
    let mut scratch = NormalizeScratch::default();
    for normalizer in [Normalizer::web(), Normalizer::microblog()] {
        assert!(std::ptr::eq(normalizer.apply(text, &mut scratch), text));
    }
}
