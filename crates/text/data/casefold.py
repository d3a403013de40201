"""Writes casefold.txt: Unicode full case folding (statuses C and F), one line per character that changes.

    python3 crates/text/data/casefold.py > crates/text/data/casefold.txt

The table is `str.casefold()` of the Python that ran this script; its Unicode version is on the first line. Folding of
an assigned character never changes in later versions (Unicode stability policy), so a newer Python only adds lines;
they would change fingerprints of texts with those characters and need a new format version.
"""
import sys
import unicodedata

print(f"# Unicode {unicodedata.unidata_version}: character, then its full case folding (hexadecimal)")
for code in range(sys.maxunicode + 1):
    if 0xD800 <= code <= 0xDFFF:
        continue
    folded = chr(code).casefold()
    if folded != chr(code):
        print(f"{code:X}", *(f"{ord(c):X}" for c in folded))
