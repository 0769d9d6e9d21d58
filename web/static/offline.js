// The service worker: after the first visit the site opens without a network.
// The build puts in front of this what belongs to the site:
//
//   const release = "0123456789ab", files = ["./", "page.0123456789ab.js", ...];
//
// A new release waits until all pages of the old one are closed, so that a page
// always finds the files it was built with.
"use strict";
const here = (file) => new URL(file, registration.scope).href;
const own = new Set(files.map(here));

self.addEventListener("install", (e) => {
  e.waitUntil(caches.open(release).then((c) =>
    // What has just been loaded comes from the browser's own cache.
    Promise.all(files.map((f) => c.add(new Request(here(f), { cache: /\.[0-9a-f]{12}\./.test(f) ? "force-cache" : "default" }))))));
});

self.addEventListener("activate", (e) => {
  e.waitUntil(caches.keys().then((all) => Promise.all(all.filter((name) => name !== release).map((name) => caches.delete(name)))));
});

self.addEventListener("fetch", (e) => {
  const address = e.request.url.replace(/[?#].*$/, "").replace(/\/index\.html$/, "/");
  if (e.request.method !== "GET" || !own.has(address)) return;
  const kept = () => caches.open(release).then((c) => c.match(address));
  // Files whose names change with their content never change; of the others
  // the newest is wanted, or else the kept one, also on a line that is no good.
  const newest = () => {
    const answer = fetch(e.request).catch(() => kept().then((r) => r || Response.error()));
    const late = new Promise((done) => setTimeout(done, 2000)).then(kept).then((r) => r || answer);
    return Promise.race([answer, late]);
  };
  if (/\.[0-9a-f]{12}\.[a-z]+$/.test(address)) e.respondWith(kept().then((r) => r || fetch(e.request)));
  else e.respondWith(newest());
});
