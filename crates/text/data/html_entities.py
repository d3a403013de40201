"""Writes html_entities.txt: named character references, one per line: name, code point in hexadecimal, `!` if the name
also counts without its semicolon.

    python3 crates/text/data/html_entities.py > crates/text/data/html_entities.txt

The list is a part of the WHATWG table (html.spec.whatwg.org, named character references), which Python ships as
`html.entities`: the 252 names of HTML 4, the names that may lack the semicolon, and those for ASCII punctuation.
The other 1,900 or so name mathematical symbols that prose does not hold.
"""
import html.entities

names = set(html.entities.name2codepoint)
names |= {name for name in html.entities.html5 if not name.endswith(";")}
names |= {
    name[:-1]
    for name, text in html.entities.html5.items()
    if name.endswith(";") and len(name) <= 9 and len(text) == 1 and ord(text) < 0x80
}
print("# WHATWG named character references: name, code point (hexadecimal), ! where the semicolon may be missing")
for name in sorted(names):
    text = html.entities.html5[name + ";"]
    assert len(text) == 1, name
    print(name, f"{ord(text):X}", *["!"] * (name in html.entities.html5))
