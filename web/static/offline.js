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
// Other sites of this origin have caches too, and other copies of this one, whose scope differs.
const site = "memtide " + registration.scope + " ";
const current = site + release;
// Whether a cache is that of another release of this site. The name of old ones is the release alone.
const past = async (name) => name !== current && (name.startsWith(site) ||
  /^[0-9a-f]{12}$/.test(name) && Boolean(await (await caches.open(name)).match(here("memtide.webmanifest"))));

// A file whose name holds the first digits of its SHA-256 is kept only if it is that
// file: what is kept damaged would stay so.
const keep = async (cache, f) => {
  const digits = /\.([0-9a-f]{12})\./.exec(f)?.[1];
  // What has just been loaded comes from the browser's own cache.
  const request = new Request(here(f), { cache: digits ? "force-cache" : "default" });
  if (!digits) return cache.add(request);
  const response = await fetch(request);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.clone().arrayBuffer()));
  if ([...sum.subarray(0, 6)].map((b) => b.toString(16).padStart(2, "0")).join("") !== digits) throw new Error(f + " is damaged");
  return cache.put(request, response);
};

self.addEventListener("install", (e) => {
  e.waitUntil(caches.open(current).then((c) => Promise.all(files.map((f) => keep(c, f)))));
});

self.addEventListener("activate", (e) => {
  e.waitUntil(caches.keys().then((all) => Promise.all(all.map(async (name) => (await past(name)) && caches.delete(name)))));
});

self.addEventListener("fetch", (e) => {
  const address = e.request.url.replace(/[?#].*$/, "").replace(/\/index\.html$/, "/");
  if (e.request.method !== "GET" || !own.has(address)) return;
  const kept = () => caches.open(current).then((c) => c.match(address));
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
