"use strict";
// The life of a worker before and after Go. It follows Go's wasm_exec.js in one
// file, and is imported from a blob (see wasm/pool). The page posts the compiled
// module; the first worker has begun to fetch the program instead (start.js), and
// posts the module to the page. From then on Go listens (pool.Serve). However Go
// ends, the page hears of it, with the last that was written. For the first
// worker the blob leaves in globalThis.first:
//
//   program   promise of the program's response
//   url       address of the program
//   counted   false if a service worker may keep it: unless it does, the page wants to
//             hear how much of it has arrived, and the first digits of its SHA-256
//   selftest  as in boot.js
(() => {
  const keep = 16384;
  let tail = "";
  const decoder = new TextDecoder();
  const write = globalThis.fs.writeSync;
  globalThis.fs.writeSync = function (fd, bytes) {
    tail = (tail + decoder.decode(bytes)).slice(-keep);
    return write.call(this, fd, bytes);
  };
  let over = false;
  const exit = (why) => {
    if (over) return;
    over = true;
    postMessage({ type: "exit", detail: why ? why + "\n" + tail : tail });
  };
  // An overflow of the stack inside a callback reaches neither Go nor the promise of go.run.
  addEventListener("error", (e) => { e.preventDefault(); exit(e.message); });
  addEventListener("unhandledrejection", (e) => { e.preventDefault(); exit(String(e.reason)); });

  const arrived = () => postMessage({ type: "loaded", bytes: Infinity });

  // Reads a copy of the program beside what compiles it, tells how much of it has
  // arrived, and returns the first digits of its SHA-256, which its name must hold.
  // Without TLS there is no SHA-256.
  const count = async (stream) => {
    const reader = stream.getReader(), parts = [];
    let told = -Infinity, bytes = 0;
    for (let part; !(part = await reader.read()).done; ) {
      parts.push(part.value);
      bytes += part.value.length;
      if (performance.now() - told < 100) continue;
      told = performance.now();
      postMessage({ type: "loaded", bytes });
    }
    arrived();
    if (!globalThis.crypto?.subtle) return;
    const whole = new Uint8Array(bytes);
    bytes = 0;
    for (const part of parts) whole.set(part, bytes), bytes += part.length;
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
    return [...sum.subarray(0, 6)].map((b) => b.toString(16).padStart(2, "0")).join("");
  };

  const compile = async ({ program, url, counted }) => {
    // What the service worker keeps need not be counted. Where storage is blocked it keeps nothing.
    const kept = counted ? undefined : caches.match(url).catch(() => {});
    const response = await program;
    if (!response.ok) throw new Error("the server answered " + response.status + " for the engine");
    if (await kept) arrived();
    const copy = !(await kept) && response.clone();
    const digits = copy && copy.body ? count(copy.body).catch(() => {}) : undefined; // the other reader of the same stream reports it
    const streams = (response.headers.get("Content-Type") || "").startsWith("application/wasm");
    const module = await (streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer()));
    return { module, digits: await digits };
  };

  const run = async (init) => {
    globalThis.selftest = init.selftest === true;
    try {
      let module = init.module;
      if (!module) {
        const compiled = await compile(init);
        module = compiled.module;
        postMessage({ type: "module", ...compiled });
      }
      const go = new Go();
      go.argv = ["memtide", "worker"];
      go.env = { GOGC: "400" };
      await go.run(await WebAssembly.instantiate(module, go.importObject));
      exit("");
    } catch (e) {
      exit(String(e));
    }
  };
  // The first worker waits for no message: one that is sent before its script has
  // run passes through the page's thread, which is laying out the first picture.
  if (globalThis.first) run(globalThis.first);
  else onmessage = ({ data }) => { if (data.type === "init") run(data); };
})();
