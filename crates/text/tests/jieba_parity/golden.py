"""Writes golden.jsonl: what Python jieba 0.42.1 makes of texts written for this repository.

    pip install jieba==0.42.1
    python3 crates/text/tests/jieba_parity/golden.py > crates/text/tests/jieba_parity/golden.jsonl
"""
import json

import jieba
import jieba.analyse

assert jieba.__version__ == "0.42.1"
TEXTS = [
    "",
    " \r\n\t",
    "。",
    "我来到北京清华大学",
    "他来到了网易杭研大厦",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。",
    "乒乓球拍卖完了，结婚的和尚未结婚的人都来了",
    "日期2013-05-06发布，版本v7.5.1，圆周率3.14.159，金额3,456.78元，增长100%",
    "a-1型号B-2战斗机, F-35",
    "第3集 第三集 EP01 EP02",
    "全角ＡＢＣ１２３",
    "你好…世界---完",
    "C++和c#，AT&T公司，T恤，B超，卡拉OK",
    "龘靐齉齾爩鱻麤龗灪吁龖厵",
    "鿖鿪㐀㑊𠀀𠀁",
    "哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈哈",
    "臺灣軟體工程師使用繁體中文撰寫程式",
    "联合国秘书长古特雷斯周二在纽约总部会见了记者",
    "欧阳建国与司马相如在李家村口的王二麻子剪刀铺相遇",
    "蔡英文特朗普泽连斯基马克龙默克尔齐聚慕尼黑",
    "The quick brown fox jumps over the lazy dog, and the fox of the dog is not a fox.",
    "邮箱 someone.name+tag@example.com 网址 https://example.com/a_b-c.html?x=1&y=2#z",
    "重启3次后,磁盘/dev/sda1占用99.9%，CPU 12.5%.",
    "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。",
    "床前明月光疑是地上霜舉頭望明月低頭思故鄉",
    "今天天气真不错，我们去公园玩吧！！！",
    "机器学习和深度学习是人工智能的重要分支，机器学习离不开数据。",
    "γ射线与X射线，α粒子，μ子",
    "한국어와 日本語のテキスト混在ですカタカナ",
    "emoji😀😀测试👨‍👩‍👧零宽\u200b空格\ufeff",
    "1.2.3..4...5%%6.%7.8%9",
    "----====____....++++####&&&&%%%%",
    "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥",
    "雲想衣裳花想容 春風拂檻露華濃\r\n若非羣玉山頭見 會向瑤臺月下逢\r\n",
    "新冠疫苗接种率超过八成，钟南山院士表示群体免疫可期",
    "苹果发布iPhone15ProMax，售价9999元起；华为Mate60Pro+同日开售",
    "的的的的地地地得得得",
    "他说的确实在理，这事的确定不下来",
    "南京市长江大桥，武汉市长江大桥，研究生命起源，使用户满意",
    "工信处女干事每月经过下属科室都要亲口交代24口交换机等技术性器件的安装工作",
]
for text in TEXTS:
    print(json.dumps({
        "text": text,
        "hmm": "\x1f".join(jieba.cut(text)),
        "plain": "\x1f".join(jieba.cut(text, HMM=False)),
        "tags": [[word, repr(weight)] for word, weight in jieba.analyse.extract_tags(text, topK=30, withWeight=True)],
    }, ensure_ascii=False))
