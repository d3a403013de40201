use super::*;
use std::cell::Cell;

thread_local! {
    /// Made on this thread.
    pub(super) static DETECTORS: Cell<usize> = const { Cell::new(0) };
}

/// In GB18030.
const SIMPLIFIED: &str = "\
    朱镕基总理 今天 明天 我们 你们 中国 北京 上海 广州 好的 再见 新闻 天气 城市 交通 \
    经济 社会 发展 政府 公司 企业 市场 产品 服务 技术 科学 教育 学生 老师 医生 电影 \
    音乐 体育 足球 篮球 比赛 冠军 手机 电脑 网络 软件 汽车 火车 飞机 地铁 吃饭 睡觉 \
    喜欢 高兴 朋友 家庭 孩子 父母 生活 工作 时间 问题 方法 情况 关系 影响 价格 银行 \
    股票 基金 房价 疫情 疫苗 核酸 口罩 沙发 收到 转发微博 哈哈哈 呵呵 加油 生日快乐 \
    新年快乐 恭喜发财 人民日报 北京时间 中华人民共和国 全国人大代表 人工智能 大数据 云计算 \
    机器学习 自然语言 清华大学 高考成绩 奥运会 世界杯 春节联欢 国庆节 端午节 盖玥希 李宇春 \
    周杰伦 刘德华 王菲 习近平 视频 评论 点赞 分享 收藏 关注 粉丝 主播 直播 第一 第二 \
    百分之十 二〇二四年 三十天 是 的 不 好";

/// In Big5.
const TRADITIONAL: &str = "\
    今天 明天 我們 你們 中國 臺灣 台北 香港 再見 新聞 天氣 城市 交通 經濟 社會 發展 \
    政府 公司 企業 市場 產品 服務 技術 科學 教育 學校 學生 老師 醫院 醫生 電影 音樂 \
    體育 足球 籃球 比賽 冠軍 手機 電腦 網路 軟體 汽車 火車 飛機 捷運 吃飯 喜歡 高興 \
    朋友 家庭 孩子 父母 生活 工作 時間 問題 方法 情況 關係 影響 價格 銀行 股票 基金 \
    房價 疫情 疫苗 口罩 沙發 收到 哈哈哈 呵呵 加油 生日快樂 新年快樂 恭喜發財 人工智慧 \
    大數據 雲端運算 機器學習 自然語言 臺灣大學 奧運會 世界盃 國慶日 端午節 周杰倫 劉德華 \
    王菲 圖片 影片 分享 收藏 關注 粉絲 主播 直播 第一 第二 百分之十 床前明月光";

fn guess(encoding: &str, text: &str) -> Guess {
    let bytes = Encoding::named(encoding).unwrap().encode(text).unwrap();
    Guess::of(&bytes, true).unwrap()
}

#[test]
fn words_are_what_has_the_more_common_characters() {
    for (name, words) in [("gbk", SIMPLIFIED), ("big5", TRADITIONAL)] {
        for word in words.split(' ') {
            let expected = Encoding::named(name).unwrap();
            assert_eq!(guess(name, word).encoding, expected, "{word}");
        }
    }
}

#[test]
fn words_that_may_be_either_follow_the_other_files() {
    let (gb18030, big5) = (Encoding::GB18030, Encoding::BIG5);
    let among = |texts: &[(&str, &str)]| {
        let mut usual = Usual::default();
        for (name, text) in texts {
            usual.count(&guess(name, text));
        }
        usual
    };
    let mainland = among(&[("gbk", "今天上午北京市召开新闻发布会"), ("big5", "今天上午")]);
    let taiwan = among(&[("big5", "今天上午臺北市召開新聞發布會"), ("gbk", "谢谢大家")]);
    for word in ["谢谢", "学校", "医院", "图片", "林芸芸卑微", "臺灣"] {
        assert_eq!(guess("gbk", word).beside(mainland), gb18030, "{word} {:?}", guess("gbk", word));
    }
    for word in ["謝謝", "睡覺", "評論", "空。", "機器學習"] {
        assert_eq!(guess("big5", word).beside(taiwan), big5, "{word}");
    }
    // What says it by itself does not.
    assert_eq!(guess("big5", "哈哈哈").beside(mainland), big5);
    assert_eq!(guess("gbk", "朱镕基总理").beside(taiwan), gb18030);
    assert_eq!(guess("windows-1252", "señor").beside(mainland), Encoding::UTF_8);
    // What is valid UTF-8 is that beside a file that is nothing else.
    let mixed = among(&[("gbk", "今天上午北京市召开新闻发布会"), ("utf-8", "今天")]);
    assert_eq!(guess("utf-8", "да").beside(mixed), Encoding::UTF_8);
    assert_eq!(guess("utf-8", "café").beside(mainland), Encoding::UTF_8);
}

#[test]
fn a_page_needs_no_detector() {
    let news = "记者从会上获悉，今天上午，北京市召开新闻发布会，介绍城市交通建设的最新进展情况。\n";
    let taiwan =
        "記者從會上獲悉，今天上午，臺北市召開新聞發布會，介紹城市交通建設的最新進展情況。\n";
    DETECTORS.set(0);
    for (name, text) in [("utf-8", news), ("gbk", news), ("big5", taiwan), ("gbk", taiwan)] {
        assert_eq!(guess(name, text).encoding, Encoding::named(name).unwrap(), "{name}");
        assert_eq!(guess(name, &text.repeat(1000)).encoding, Encoding::named(name).unwrap());
    }
    assert_eq!(DETECTORS.get(), 0);
}

#[test]
fn other_languages_are_not_taken_for_chinese() {
    for (name, text) in [
        ("shift_jis", "こんにちは"),
        ("shift_jis", "今日の午前、市内で記者会見が開かれました。"),
        ("shift_jis", "日本語"),
        ("shift_jis", "カタカナ"),
        ("euc-kr", "오늘 오전 서울시는 기자회견을 열고 도시 교통 건설의 최신 상황을 소개했다"),
        ("windows-1251", "Сегодня утром в городе прошла пресс-конференция"),
        ("koi8-r", "Сегодня утром в городе прошла пресс-конференция"),
        ("windows-1252", "Die Größe der Brücke über die Straße"),
        ("windows-1252", "señor"),
        ("windows-1252", "naïve café"),
        ("windows-1250", "Příliš žluťoučký kůň"),
        ("windows-1254", "İstanbul'da güzel bir gün"),
        ("windows-1256", "اليوم صباحا في المدينة"),
    ] {
        assert_eq!(guess(name, text).encoding, Encoding::UTF_8, "{name} {text}");
    }
    // Kana of EUC-JP are those of GB2312.
    for text in ["こんにちは", "今日の午前、市内で記者会見が開かれました。"]
    {
        assert_eq!(guess("euc-jp", text).encoding, Encoding::GB18030, "{text}");
    }
}

#[test]
fn damaged_utf_8_is_no_other_encoding() {
    for text in [
        "Сегодня утром в городе прошла пресс-конференция о транспорте и дорогах.",
        "Сегодня утром",
        "Le café déjà fermé, l'été à la forêt; ça coûte cher, naïveté.",
        "Σήμερα το πρωί στην πόλη",
        "اليوم صباحا في المدينة",
        "今天上午，北京市召开新闻发布会，介绍城市交通建设的最新进展情况。",
        "今天上午，臺北市召開新聞發布會",
        "今日の午前、市内で記者会見が開かれました。カタカナ",
        "오늘 오전 서울시는 기자회견을 열고",
    ] {
        for place in 0..text.len() {
            for cut in [&b""[..], b"\xff", b" "] {
                let bytes =
                    [&text.as_bytes()[..place], cut, &text.as_bytes()[place + 1..]].concat();
                let Some(guess) = Guess::of(&bytes, true) else { continue };
                assert_eq!(guess.encoding, Encoding::UTF_8, "{}", String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[test]
fn signs_in_english_are_no_chinese_of_the_other_encoding() {
    let english =
        "A guide to the shell – with notes — for “beginners” – and a table of what it prints";
    let frame = "┏━━━━━━━━┳━━━━━━━━━━━┓\n┃ name   ┃ what it is ┃\n┗━━━━━━━━┻━━━━━━━━━━━┛";
    let tree = "├──\u{a0}src\n│\u{a0}\u{a0} └──\u{a0}main.rs";
    let mixed = "╭──────────────────────────╮ 😁 ✅ – done\n╰──────────────────────────╯ ❌ 每一步都有一行说明";
    let mut usual = Usual::default();
    usual.count(
        &Guess::of(
            &Encoding::GB18030.encode("今天上午召开了新闻发布会，介绍了建设的进展").unwrap(),
            true,
        )
        .unwrap(),
    );
    for text in [english, frame, tree, mixed] {
        let bytes = Encoding::GB18030.encode(text).unwrap();
        let alone = Guess::of(&bytes, true).unwrap();
        assert_ne!(alone.encoding, Encoding::BIG5, "{text}");
        assert_eq!(alone.beside(usual), Encoding::GB18030, "{text}");
    }
}
