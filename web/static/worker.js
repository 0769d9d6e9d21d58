"use strict";
// The life of a worker before and after Go. It follows Go's wasm_exec.js in one
// file, and is imported from a blob (see wasm/pool). The page posts the
// compiled module; from then on Go listens (pool.Serve). However Go ends, the
// page hears of it, with the last that was written.
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

  onmessage = async ({ data }) => {
    if (data.type !== "init") return;
    globalThis.selftest = data.selftest === true;
    try {
      const go = new Go();
      go.argv = ["memtide", "worker"];
      go.env = { GOGC: "400" };
      await go.run(await WebAssembly.instantiate(data.module, go.importObject));
      exit("");
    } catch (e) {
      exit(String(e));
    }
  };
})();
