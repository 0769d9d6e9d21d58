"use strict";
// Vugu evaluates its helper script when it starts, which a strict policy
// forbids. The helper is loaded as a script before this one, so there is
// nothing left to evaluate.
(() => {
  const real = globalThis.eval;
  globalThis.eval = (source) => (globalThis.vuguRender ? undefined : real(source));
})();
