// Loads the program of puzzle.html.
"use strict";
const { wasm } = document.currentScript.dataset;
(async () => {
  const go = new Go();
  const response = await fetch(wasm);
  if (!response.ok) throw new Error("the server says " + response.status);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), go.importObject);
  await go.run(instance);
})().catch((e) => {
  document.getElementById("board").textContent = "The puzzle cannot start: " + e.message;
});
