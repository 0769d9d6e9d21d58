"use strict";
// Starts the first worker while the page is still being read: it loads and
// compiles the program for both threads (worker.js), beside what the page's own
// thread has to do first. For boot.js it leaves in globalThis.memtide:
//
//   first  {worker, heard, module, loaded}: the worker, what it has said so far,
//          a promise of {module, digits}: the compiled program and, where it was
//          counted, the first digits of its SHA-256; undefined if the worker could
//          not load it. loaded: the bytes that have arrived; Infinity for all of them
//
// It stands in the page's head, so that it need not be fetched first. The worker
// fetches the program itself: what a browser has compiled of a preloaded one it
// does not find again at the next visit.
//
// data-other on the root element says that the address asks for something else than
// what was prepared at build, which the style sheet then hides until the program draws.
// --asked is what the address names, as far as its text says it: a title, or a network and its card.
(() => {
  if (location.hash.length > 1 || /[?&][pd]=/.test(location.search)) {
    const root = document.documentElement;
    root.dataset.other = "";
    const keys = new URLSearchParams((location.hash.length > 1 ? location.hash : location.search).slice(1));
    const network = keys.get("p") ?? keys.get("step") ?? "", card = keys.get("dev");
    const words = keys.get("title") || (/^[\w.-]+$/.test(network) ? network.replace(/-(step.*|b\d+)$/, "") + (card ? " on " + card : "") : "");
    if (words) root.style.setProperty("--asked", JSON.stringify(words.slice(0, 60)));
  }
  const own = document.currentScript.dataset;
  const address = (file) => JSON.stringify(new URL(file, document.baseURI).href);
  const first = { heard: [], loaded: 0 };
  // On later visits the program comes from the service worker, which has looked at
  // it, faster than it could be counted. Sandboxed frames may not even ask for service workers.
  const visited = () => {
    try {
      return Boolean(navigator.serviceWorker.controller);
    } catch {
      return false;
    }
  };
  // The program is asked for before the worker's own script, so that both arrive together.
  const source = "globalThis.first = {program: fetch(" + address(own.wasm) + "), url: " + address(own.wasm) + ", counted: " + !visited() +
    ", selftest: " + new URLSearchParams(location.search).has("selftest") + "};\nimportScripts(" + address(own.worker) + ");";
  try {
    first.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  } catch {
    return; // the program tries again, and says why it cannot
  }
  first.module = new Promise((done) => {
    const dead = (detail) => { first.heard.push({ type: "exit", detail }); done(); };
    first.worker.onmessage = ({ data }) => {
      if (data.type === "module") done(data);
      else if (data.type === "loaded") first.loaded = data.bytes;
      else if (data.type === "exit") dead(data.detail);
      else first.heard.push(data);
    };
    first.worker.onerror = (e) => { e.preventDefault(); dead(e.message || "the worker could not be loaded"); };
  });
  globalThis.memtide = { first };
})();
