"""Writes user.jsonl: what Python jieba 0.42.1 makes of texts with words added, reweighted and deleted.

    pip install jieba==0.42.1
    python3 crates/text/tests/jieba_parity/user.py > crates/text/tests/jieba_parity/user.jsonl

Each line is one dictionary: `words` in the format of load_userdict, then texts with their tokens. The frequencies that
add_word suggests are in `suggested`.
"""
import io
import json

import jieba

assert jieba.__version__ == "0.42.1"
jieba.setLogLevel(60)
CASES = [
    (["云计算 5", "李小福 2 nr", "创新办 3 i", "easy_install 3 eng", "好用 300", "韩玉赏鉴 3 nz", "八一双鹿 3 nz", "台中", "凱特琳 nz", "Edu Trust认证 2000"],
     ["李小福是创新办主任也是云计算方面的专家; 什么是八一双鹿", "例如我输入一个带“韩玉赏鉴”的标题，在自定义词库中也增加了此词为N类",
      "「台中」正確應該不會被切開。mac上可分出「石墨烯」；此時又可以分出來凱特琳了。", "easy_install is great", "python 的正则表达式是好用的"]),
    (["台中 0", "今天天气 0", "的 0", "中国 0", "北京大学 0", "不错 0"],
     ["「台中」正确应该不会被切开", "今天天气不错", "北京大学生前来应聘中国的公司", "他说的确实在理"]),
    (["石墨烯", "机器学习", "深度学习 n", "武汉市长 1", "江大桥 100000", "龘靐", "a-1", "F-35 10", "B超 0", "人工智能 1"],
     ["石墨烯与深度学习", "武汉市长江大桥", "龘靐齉齾", "a-1型号与F-35战机做B超", "机器学习是人工智能的分支"]),
    (["哈哈 1000000", "哈哈哈 1", "一 0", "一二三 7"], ["哈" * 31, "一二三四五", "一一一一", "独一无二"]),
]
for words, texts in CASES:
    tokenizer = jieba.Tokenizer()
    jieba.finalseg.Force_Split_Words.clear()
    tokenizer.initialize()
    tokenizer.load_userdict(io.StringIO("\n".join(words)))
    suggested = {line.split(" ")[0]: tokenizer.FREQ[line.split(" ")[0]] for line in words if " " not in line}
    print(json.dumps({
        "words": words,
        "suggested": suggested,
        "texts": [{"text": text, "hmm": "\x1f".join(tokenizer.cut(text)), "plain": "\x1f".join(tokenizer.cut(text, HMM=False))}
                  for text in texts],
    }, ensure_ascii=False))
