// memtidePaint(bytes, palette, dpr, canvas, length, ...) paints command buffers, which
// lie one after the other in bytes, each on its canvas: one call for all pictures.
//
// A buffer comes from Scene.AppendBuffer in web/draw/buffer.go, which describes
// its format; the shapes below are the same as in web/draw/svg.go. palette is an
// array of colours by role, dpr the device pixels per CSS pixel. The canvas is
// cleared first, so that the page shows through where nothing is painted; the
// page gives it its width. An overlay for the pointer is a second canvas.
"use strict";

// memtideFade(ms, canvas, ...) has copies of canvases fade away over them, unless
// less motion is wanted.
globalThis.memtideFade = (ms, ...list) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const c of list.filter((c) => c.width && c.height)) {
    const was = c.cloneNode();
    was.getContext("2d").drawImage(c, 0, 0);
    c.after(was);
    was.animate({ opacity: [1, 0] }, ms).onfinish = () => was.remove();
  }
};

globalThis.memtidePaint = (() => {
  const MAGIC = 0x3144544d; // "MTD1"
  const HEADER = 20, GROUP = 16, NONE = 255;
  const SURFACE = 8; // the role of the background
  const RECTS = 1, AREA = 2, LINE = 3, TEXTS = 4;
  const SMALL = "11px system-ui,sans-serif", LARGE = "13px system-ui,sans-serif";
  const FONTS = [SMALL, "600 " + SMALL, LARGE, "600 " + LARGE];
  const DASHES = [[], [3, 2], [6, 3], [2, 2]];
  const ALIGN = ["left", "center", "right"];
  const TILE = 8; // CSS pixels, both ways
  const DIAGONALS = [-2, 2, 2, -2, -2, 10, 10, -2, 6, 10, 10, 6];
  const PATTERNS = [null,
    { lines: DIAGONALS, width: 2.4 },
    { lines: DIAGONALS, width: 1 },
    { lines: [1.3, 2, 2.7, 2, 5.3, 6, 6.7, 6], width: 1.4 }];
  const decoder = new TextDecoder();
  const tiles = new Map();

  // pattern is a cached fill of a base colour with lines on it.
  function pattern(ctx, kind, base, ink, dpr) {
    const key = kind + base + ink + dpr;
    let p = tiles.get(key);
    if (p) return p;
    const size = Math.max(1, Math.round(TILE * dpr));
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const c = tile.getContext("2d");
    c.scale(size / TILE, size / TILE);
    c.fillStyle = base;
    c.fillRect(0, 0, TILE, TILE);
    c.strokeStyle = ink;
    c.lineWidth = PATTERNS[kind].width;
    c.beginPath();
    for (let l = PATTERNS[kind].lines, i = 0; i < l.length; i += 4) {
      c.moveTo(l[i], l[i + 1]);
      c.lineTo(l[i + 2], l[i + 3]);
    }
    c.stroke();
    p = ctx.createPattern(tile, "repeat");
    p.setTransform(new DOMMatrix().scale(TILE / size));
    if (tiles.size > 64) tiles.clear(); // themes and zooms come and go
    tiles.set(key, p);
    return p;
  }

  function rects(ctx, v, at, end, fill, stroke) {
    for (; at < end; at += 16) {
      const x = v.getFloat32(at, true), y = v.getFloat32(at + 4, true);
      const w = v.getFloat32(at + 8, true), h = v.getFloat32(at + 12, true);
      if (fill) ctx.fillRect(x, y, w, h);
      if (stroke) ctx.strokeRect(x, y, w, h);
    }
  }

  function path(ctx, v, at, end, closed, fill, stroke) {
    ctx.beginPath();
    for (; at < end; at += 8) ctx.lineTo(v.getFloat32(at, true), v.getFloat32(at + 4, true));
    if (closed) ctx.closePath();
    if (fill) ctx.fill();
    if (stroke) ctx.stroke();
  }

  function texts(ctx, v, at, end, strings, edge) {
    ctx.strokeStyle = edge;
    ctx.lineWidth = 4;
    ctx.lineJoin = "round";
    ctx.setLineDash([]);
    let last = -1; // setting a font is slow, even the same one
    for (; at < end; at += 16) {
      const from = v.getUint32(at + 8, true);
      ctx.textAlign = ALIGN[v.getUint8(at + 14)];
      const font = v.getUint8(at + 15), text = strings.substr(from, v.getUint16(at + 12, true));
      const x = v.getFloat32(at, true), y = v.getFloat32(at + 4, true);
      if (last !== (last = font & 3)) ctx.font = FONTS[last];
      if (font & 4) ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    }
    ctx.lineJoin = "miter";
  }

  // prepare gives the canvas its size in device pixels and clears it.
  function prepare(canvas, width, height, dpr) {
    const w = Math.round(width * dpr), h = Math.round(height * dpr);
    const ctx = canvas.getContext("2d");
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.height = height + "px";
    } else {
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.clearRect(0, 0, w, h);
    }
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.textBaseline = "alphabetic";
    return ctx;
  }

  function paint(canvas, bytes, palette, dpr) {
    const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (v.byteLength < HEADER || v.getUint32(0, true) !== MAGIC) throw new Error("not a command buffer");
    const ctx = prepare(canvas, v.getFloat32(4, true), v.getFloat32(8, true), dpr);
    const groups = v.getUint32(12, true), textBytes = v.getUint32(16, true);
    const strings = decoder.decode(bytes.subarray(bytes.length - textBytes));
    for (let i = 0, at = HEADER; i < groups; i++) {
      const op = v.getUint8(at), fill = v.getUint8(at + 1), stroke = v.getUint8(at + 2), kind = v.getUint8(at + 3);
      const end = at + GROUP + 4 * v.getUint32(at + 12, true);
      if (fill !== NONE) {
        ctx.fillStyle = kind ? pattern(ctx, kind, palette[fill], palette[v.getUint8(at + 4)], dpr) : palette[fill];
      }
      if (stroke !== NONE) {
        ctx.strokeStyle = palette[stroke];
        ctx.lineWidth = v.getFloat32(at + 8, true);
        ctx.setLineDash(DASHES[v.getUint8(at + 5)]);
      }
      if (op === RECTS) rects(ctx, v, at + GROUP, end, fill !== NONE, stroke !== NONE);
      else if (op === AREA || op === LINE) path(ctx, v, at + GROUP, end, op === AREA, fill !== NONE && op === AREA, stroke !== NONE);
      else if (op === TEXTS) texts(ctx, v, at + GROUP, end, strings, palette[SURFACE]);
      at = end;
    }
  }

  return (bytes, palette, dpr, ...list) => {
    for (let i = 0, at = 0; i < list.length; at += list[i + 1], i += 2) {
      paint(list[i], bytes.subarray(at, at + list[i + 1]), palette, dpr);
    }
  };
})();
