"use strict";
// Starts the program: takes it from the first worker, which has compiled it
// (start.js), runs it as the page, and leaves what others need in
// globalThis.memtide:
//
//   module    the compiled module, for the workers
//   worker    address of a blob that is the workers' script, or imports it
//   first     {worker, heard}: the first worker, and what it has said so far
//   selftest  true if the address has ?selftest (see wasm/pool)
//   charts    promise of the chart library, loaded after the first picture
//   second()  promise of the compiled program of what most visits never need
//   suspect()  looks whether the program's file is damaged, and says so if it is
//
// Until the program draws, the picture that was prepared at build stands in
// #app. If the program cannot start it stays, and #boot says why.
(() => {
  const own = document.currentScript.dataset;
  // In the page that is one file, what would be fetched stands in elements.
  const text = (file) => (file.startsWith("#") ? document.querySelector(file).textContent : null);
  const address = (file) => text(file) === null
    ? new URL(file, document.baseURI).href
    : script(text(file));
  const script = (source) => URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const page = (globalThis.memtide = {
    first: globalThis.memtide?.first,
    // Sandboxed frames refuse new Worker(address), but not a blob that imports it.
    worker: script(text(own.worker) ?? "importScripts(" + JSON.stringify(address(own.worker)) + ");"),
    selftest: new URLSearchParams(location.search).has("selftest"),
  });
  const note = document.getElementById("boot");
  // A view in another page shows nothing of the page around the pictures, from
  // the first moment on. The program reads the rest of the link.
  const asked = location.hash.length > 1 ? location.hash : location.search;
  const root = document.documentElement.dataset;
  if (self !== top) root.framed = "";
  // Only a whole key counts: what stands in the middle of another one is passed on
  // from link to link, beside the profile of a file.
  if (/(?:^[#?]|&)embed(?!=0(?:&|$))(?:=|&|$)/i.test(asked)) {
    root.embed = /(?:^[#?]|&)controls=budget/i.test(asked) ? "budget " : " ";
    const theme = asked.match(/(?:^[#?]|&)theme=(light|dark)(?=&|$)/);
    if (theme) root.theme = theme[1];
  }
  const mark = (name) => performance.mark("memtide:" + name);
  // Where storage is blocked its getter throws, which the program would not
  // survive: there nothing is remembered.
  try {
    void localStorage;
  } catch {
    Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => null, setItem: () => {} } });
  }

  // afresh has the link reload the page with the program fetched past every copy.
  const say = (text, action, href, afresh = true) => {
    note.hidden = false;
    note.setAttribute("role", "alert");
    note.textContent = text + " ";
    if (action) {
      const link = document.createElement("a");
      link.textContent = action;
      link.href = href;
      if (href !== location.href) return note.append(link);
      link.addEventListener("click", async (e) => { e.preventDefault(); if (afresh) await refetch(own.wasm); location.reload(); });
      note.append(link);
    }
    document.body.dataset.state = "error";
    if (root.embed && self !== parent) parent.postMessage({ memtide: { type: "error", code: "start", text } }, "*");
  };

  // The size is baked in at build: while a compressed stream is decoded, the
  // length that the server tells is that of the compressed one.
  const showProgress = async (module) => {
    const bar = document.createElement("progress");
    bar.max = Number(own.size);
    bar.setAttribute("aria-label", "Loading the engine");
    const late = setTimeout(() => {
      if (note.getAttribute("role") === "alert") return; // it says that nothing arrives
      note.replaceChildren(bar);
      note.hidden = false;
    }, 300);
    const tick = setInterval(() => { bar.value = Math.min(page.first.loaded, bar.max); }, 100);
    await module;
    clearTimeout(late);
    clearInterval(tick);
    bar.remove();
    note.hidden = true;
  };

  // Calls late when the bytes that have arrived were the same for ten seconds, which are
  // counted, so that a computer that slept is not taken for a line that broke. Infinity is
  // all of them. It returns what ends the watch.
  const watch = (arrived, late) => {
    let last, quiet = 0;
    const tick = setInterval(() => {
      quiet = arrived() === last && last !== Infinity ? quiet + 1 : 0;
      last = arrived();
      if (quiet === 10) late();
    }, 1000);
    return () => clearInterval(tick);
  };
  const isLate = (file) => "the program file " + file + " does not arrive: nothing came for 10 seconds. Check the connection and try again";

  const compile = async (file) => {
    if (text(file) !== null) {
      const packed = new Response(Uint8Array.from(atob(text(file)), (c) => c.charCodeAt(0)));
      return WebAssembly.compile(await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
    }
    const end = new AbortController();
    let bytes = 0, late;
    const unwatch = watch(() => bytes, () => { late = new Error(isLate(file)); end.abort(); });
    const count = async (reader) => {
      for (let part; !(part = await reader.read()).done; ) bytes += part.value.length;
      bytes = Infinity;
    };
    try {
      const response = await fetch(address(file), { signal: end.signal });
      if (!response.ok) throw new Error("the server answered " + response.status + " for the engine");
      count(response.clone().body.getReader()).catch(() => {}); // what compiles it reports it
      if ((response.headers.get("Content-Type") || "").startsWith("application/wasm")) {
        return await WebAssembly.compileStreaming(response);
      }
      return await WebAssembly.compile(await response.arrayBuffer());
    } catch (e) {
      end.abort(); // what is not read to its end keeps others from it for 20 seconds
      throw late || e;
    } finally {
      unwatch();
    }
  };

  // Whether WebAssembly may run here at all: the smallest module there is.
  const allowed = () => {
    try {
      return Boolean(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
    } catch {
      return false;
    }
  };

  // The name of a file holds the first digits of its SHA-256; that of the page in
  // one file has none.
  const named = (file) => /\.([0-9a-f]{12})\./.exec(file)?.[1];
  // Whether bytes are a file as it was built. Undefined where that cannot be told: a
  // page without TLS has no SHA-256.
  const whole = async (file, bytes) => {
    if (!named(file) || !globalThis.crypto?.subtle) return;
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [...sum.subarray(0, 6)].map((b) => b.toString(16).padStart(2, "0")).join("") === named(file);
  };

  // Whether a program's file, as the browser has it, is not the one that was built.
  // Where that cannot be told, one that does not compile is taken for damaged, if
  // others do.
  const damaged = async (file, error) => {
    try {
      const intact = text(file) === null ? await whole(file, await kept(file)) : undefined;
      if (intact !== undefined) return !intact;
    } catch {
      return false; // the line is what is wrong
    }
    return Boolean(error) && !page.module && allowed();
  };
  // As the cache has it. Chromium's cannot give out what is being written into it and
  // turns out to be too large.
  const kept = (file) => bytesOf(file, "force-cache").catch(() => bytesOf(file, "no-store"));
  const bytesOf = async (file, cache) => {
    const response = await fetch(address(file), { cache });
    if (!response.ok) throw new Error("the server answered " + response.status + " for the engine");
    return response.arrayBuffer();
  };

  // The bytes of a file, fetched past every copy that is kept, and in their place.
  const refetch = async (file) => {
    if (text(file) !== null) return;
    try {
      for (const name of await caches.keys()) await (await caches.open(name)).delete(address(file));
    } catch {} // where storage is blocked nothing is kept
    return bytesOf(file, "reload").catch(() => {});
  };

  // A program. Where it does not compile its bytes are read again and looked at: those that are
  // right are compiled (the cache may have had others a moment before, or shared its entry with
  // a request that was given up), damaged ones are replaced once.
  const load = async (file) => {
    try {
      return await compile(file);
    } catch (e) {
      if (e.message === isLate(file)) throw e;
      const bytes = text(file) === null && (await kept(file).catch(() => {}));
      if (bytes && (await whole(file, bytes))) return WebAssembly.compile(bytes);
      if (!(await damaged(file, e))) throw e;
      return replaced(file);
    }
  };
  const replaced = async (file) => {
    const anew = await refetch(file);
    const intact = anew && (await whole(file, anew));
    if (intact) return WebAssembly.compile(anew);
    const error = new Error(isDamaged(file));
    if (!anew || intact === false) throw error;
    return WebAssembly.compile(anew).catch(() => { throw error; });
  };
  const isDamaged = (file) => (text(file) === null
    ? "the program file " + file + " is damaged: it is not the one that was built"
    : "this file is damaged: the program in it is not the one that was built");

  // Loaded when the first schedule is on screen and the page is idle: it holds up nothing.
  const loadCharts = () => {
    page.charts = new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = address(own.charts);
      script.onload = () => done(globalThis.echarts);
      script.onerror = () => fail(new Error("the charts cannot be loaded"));
      const later = globalThis.requestIdleCallback || ((f) => setTimeout(f, 200));
      const load = () => later(() => document.head.append(script), { timeout: 1000 });
      const wait = (tries) => (tries > 0 && document.body.dataset.state === "solving" ? setTimeout(wait, 50, tries - 1) : load());
      wait(100);
    });
    page.charts.then(keep, () => {}); // who waits for the charts is told
  };

  // The style sheet has a line for it.
  const noteOffline = () => document.documentElement.toggleAttribute("data-offline", navigator.onLine === false);
  for (const event of ["online", "offline"]) addEventListener(event, noteOffline);
  noteOffline();

  // Kept for the next visit, also without a network. Frames keep nothing, and
  // where storage is blocked there is nothing to keep it in.
  const keep = () => {
    try {
      if (self === top && !page.selftest && text(own.wasm) === null) navigator.serviceWorker.register(address("offline.js")).catch(() => {});
    } catch {}
  };

  // The program of what most visits never need; tried again after a failure.
  let second;
  page.second = () => (second ||= load(own.second).catch((e) => { second = undefined; throw e; }));
  if (/[#&]step=/.test(location.hash)) page.second().catch(() => {}); // it answers about steps

  // The program as the first worker has compiled it. Where that has failed, and in
  // the page that is one file, the page compiles it: then either it works or the
  // error is this page's own. A damaged one may work too, and say what is wrong: it
  // is not run.
  const program = async () => {
    const first = page.first?.module;
    if (first) showProgress(first);
    const compiled = await (first && expected(first));
    if (!compiled) return load(own.wasm);
    if (!compiled.digits || compiled.digits === named(own.wasm)) return compiled.module;
    page.first.worker.terminate();
    page.first = undefined;
    return replaced(own.wasm);
  };

  // What the first worker loads, with a word while it does not arrive.
  const expected = async (module) => {
    const body = document.body.dataset, { state } = body;
    const unwatch = watch(() => page.first.loaded, () => say(sentence(isLate(own.wasm)), "Reload", location.href, false));
    await module;
    unwatch();
    note.removeAttribute("role");
    if (state) body.state = state;
    else delete body.state;
    return module;
  };

  const start = async () => {
    mark("boot");
    // A saved page opens with what it was saved with, but never for a page that
    // frames it as a view: that one would be told the profile in it.
    const saved = document.body.dataset.link;
    if (saved && location.hash.length < 2 && !root.embed) location.replace("#" + saved);
    if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly");
    if (typeof Worker !== "function") throw new Error("this browser has no workers");
    page.module = await program();
    mark("compiled");
    const go = new Go();
    go.argv = ["memtide"];
    const instance = await WebAssembly.instantiate(page.module, go.importObject);
    loadCharts();
    const ended = go.run(instance);
    mark("running");
    await ended;
  };

  // What stops may do so because it was damaged in a way that compiles.
  const stopped = async (text) => {
    say((await damaged(own.wasm)) ? sentence(isDamaged(own.wasm)) : text, "Reload", location.href);
  };
  page.suspect = async () => {
    if (await damaged(own.wasm)) say(sentence(isDamaged(own.wasm)), "Reload", location.href);
  };
  const sentence = (text) => text[0].toUpperCase() + text.slice(1) + ".";

  start().then(
    () => stopped("The page stopped unexpectedly."),
    (e) => {
      console.warn(e);
      if (page.module) stopped("The page stopped unexpectedly: " + e.message + ".");
      else if (e.name === "CompileError" && !allowed()) say("The interactive view cannot start here: WebAssembly is blocked.", "Open in a new tab", location.href + "#");
      else if (e.message.endsWith(" is not the one that was built")) say(sentence(e.message), "Reload", location.href);
      else say("The interactive view cannot start: " + e.message + ".", "Reload", location.href, e.message !== isLate(own.wasm));
    },
  );
})();
