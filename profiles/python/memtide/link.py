"""A profile of stages as a file, and as a link whose fragment is the profile."""
import base64
import functools
import json
import math
import struct
import zlib

from .errors import CollectError

COLUMNS = ("forward", "backward", "output_bytes", "saved_bytes", "grad_bytes", "forward_temp_bytes", "backward_temp_bytes")


def text_of(p):
    """Returns the profile as JSON, one line per stage; times are exact to the nanosecond."""

    def stage(row):
        cells = ['"name":' + json.dumps(row["name"])] + (['"kind":' + json.dumps(row["kind"])] if row["kind"] else [])
        for word in COLUMNS[:2]:
            cells.append('"%s_s":%s' % (word, ("%d.%09d" % divmod(row[word + "_ns"], 10**9)).rstrip("0").rstrip(".")))
        cells += ['"%s":%d' % (word, row[word]) for word in COLUMNS[2:]]
        if row.get("output_unsaved"):
            cells.insert(-3, '"output_unsaved":true')
        return "{" + ",".join(cells) + "}"

    head = json.dumps({k: v for k, v in p.items() if k not in ("stages", "loss") and v is not None}, ensure_ascii=False)
    return head[:-1] + ',\n "stages":[\n  ' + ",\n  ".join(map(stage, p["stages"])) + '],\n "loss":' + stage(p["loss"]) + "}\n"


LONGEST_LINK = 32000  # longer addresses get lost; send the file instead


def number(n):
    """Returns an unsigned number in groups of seven bits, the lowest first."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def signed(n):
    return number(n << 1 if n >= 0 else (-n << 1) - 1)


def words(s):
    data = s.encode()
    return number(len(data)) + data


def deflate(data):
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    return c.compress(data) + c.flush()


def successor(s):
    """Returns the text with its last number incremented: h.9.attn, h.10.attn."""
    end = max([i for i, c in enumerate(s) if c in "0123456789"], default=-1) + 1
    start = end
    while start > 0 and s[start - 1] in "0123456789":
        start -= 1
    if start == end or int(s[start:end]) >= 1 << 32:
        return s
    return s[:start] + str(int(s[start:end]) + 1) + s[end:]


def names(list_):
    out, before = b"", ""
    for n in list_:
        out += number(1) if n == before else number(2) if n == successor(before) else number(0) + words(n)
        before = n
    return out


def column(earlier, values):
    """Returns a column, encoded as its difference from the best predictor: nothing, the row
    before, or an earlier column, once or twice. The minimum is subtracted and the common
    divisor divided out. The rest is encoded as numbers, or with as many bits for each number
    as the largest needs."""
    best = None
    for k in range(2 + 2 * len(earlier)):
        if k >= 2:
            guess = [v * (1 + k % 2) for v in earlier[(k - 2) // 2]]
        else:
            guess = [0] + values[:-1] if k else [0] * len(values)
        rest = [v - g for v, g in zip(values, guess)]
        low = min(rest)
        divisor = functools.reduce(math.gcd, (r - low for r in rest))
        rest = [(r - low) // max(divisor, 1) for r in rest]
        head = bytes([k]) + signed(low) + number(divisor)
        width = max(rest).bit_length()
        packed = sum(r << (i * width) for i, r in enumerate(rest)).to_bytes((width * len(rest) + 7) // 8, "little")
        plain = b"".join(map(number, rest)) if divisor else b""
        for b in (head + b"\0" + plain, head + bytes([width]) + packed):
            size = len(deflate(b))
            if best is None or size < best[0]:
                best = size, b
    return best[1]


def body(p):
    """Returns the bytes of a profile in a link, before compression, and their layout."""
    source, r, device, rows = p.get("source", {}), p.get("resident", {}), p.get("device"), p["stages"] + [p["loss"]]
    out = b"".join(words(s) for s in (p.get("name", ""), p.get("dtype", ""), "memtide", source.get("tool", ""), source.get("times", ""),
                                     source.get("sizes", ""), source.get("device", ""), source.get("url", "")))
    for texts in (source.get("notes", []), p.get("warnings", [])):
        out += number(len(texts)) + b"".join(map(words, texts))
    if device:
        out += number(1) + words(device.get("name", ""))
        for key in ("memory_bytes", "d2h_bytes_per_s", "h2d_bytes_per_s", "duplex"):
            out += number(int(device.get(key, 0)))
    else:
        out += number(0)
    for n in (p.get("batch", 0), p.get("input_bytes", 0), p.get("input_grad_bytes", 0), r.get("weights", 0), r.get("grads", 0),
              r.get("optimizer", 0), r.get("pinned", 0), 0, len(rows)):
        out += number(n)
    out += names([row["name"] for row in rows]) + names([row.get("kind", "") for row in rows])
    table = []
    for word in COLUMNS:
        table.append([row[word + "_ns" if word in COLUMNS[:2] else word] for row in rows])
        out += column(table[:-1], table[-1])
    unsaved = [int(row.get("output_unsaved", False)) for row in rows]
    if any(unsaved):
        return out + number(2) + column([], unsaved), b"m\x02"
    return out, b"m\x01"


def fragment(p):
    """Returns the fragment of the address that shows a profile, without the #."""
    plain, layout = body(p)
    codec, sent = "1.", deflate(plain)
    if len(sent) >= len(plain):
        codec, sent = "0.", plain
    check = struct.pack("<I", zlib.crc32(sent, zlib.crc32(codec.encode())))
    data = layout + number(4 + len(sent)) + check + sent
    return "v=1&d=" + codec + base64.urlsafe_b64encode(data).decode().rstrip("=")


def read(path):
    """Returns a profile that this program has written, with times in nanoseconds."""
    with open(path, encoding="utf-8") as f:
        p = json.load(f, parse_float=str)
    if p.get("format") != "memtide/1" or p.get("kind", "chain") != "chain":
        raise CollectError("%s is not a memtide/1 profile of a chain." % path)
    for row in p["stages"] + [p["loss"]]:
        for word in COLUMNS[:2]:
            whole, _, part = str(row.pop(word + "_s")).partition(".")
            row[word + "_ns"] = int(whole) * 10**9 + int((part + "0" * 9)[:9])
    return p


def tell_link(p, page):
    address = page + "#" + fragment(p)
    if len(address) > LONGEST_LINK:
        return "The profile is too long for a link (%d characters): open the page and drop the file on it." % len(address)
    return address
