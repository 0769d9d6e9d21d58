// <memtide-view>: a live schedule in any page.
//
//   <script src="https://HOST/view.js" defer></script>
//   <memtide-view preset="resnet101-b32" budget="60%">
//     <a href="https://HOST/#p=resnet101-b32"><img src="picture.svg" alt="..."></a>
//   </memtide-view>
//
// What stands between the tags stays until the live view is ready. With a
// picture there, a click starts it; without one it starts when it is scrolled
// into view. The view tells its height, so there is no scroll bar in it, and is
// as light or dark as the text around it asks for.
"use strict";
(() => {
  const home = document.currentScript ? new URL(".", document.currentScript.src).href : document.baseURI;
  const keys = { preset: "p", data: "d", budget: "m", strategy: "s", device: "dev", bandwidth: "bw", duplex: "duplex", transfers: "xfer", allocator: "alloc", range: "t", select: "sel", show: "show", controls: "controls", title: "title" };
  const seen = "IntersectionObserver" in window && new IntersectionObserver((all) => {
    for (const e of all) if (e.isIntersecting) e.target.start();
  }, { rootMargin: "200px" });
  const views = new Set();
  const recolour = () => { for (const v of views) v.colour(); };
  const watch = new MutationObserver(recolour);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);

  customElements.define("memtide-view", class extends HTMLElement {
    static observedAttributes = ["link", "height", "theme", ...Object.keys(keys)];

    connectedCallback() {
      if (document.readyState === "loading") return addEventListener("DOMContentLoaded", () => this.connectedCallback()); // its picture may not be there yet
      const poster = this.querySelector("img, svg, picture");
      if (!poster) return seen ? seen.observe(this) : this.start();
      poster.style.cursor = "pointer";
      poster.addEventListener("click", (e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey) return; // a new tab or window, as links do
        e.preventDefault();
        this.start();
      });
    }

    disconnectedCallback() {
      seen && seen.unobserve(this);
      views.delete(this);
      removeEventListener("message", this);
    }

    attributeChangedCallback(name) {
      if (name === "height") this.resize();
      else if (name === "theme") this.colour();
      else if (this.ready) this.send({ type: "open", link: this.link() });
      else if (this.frame) this.frame.src = this.address();
    }

    // link is that of the view: attributes, over what `link` says.
    link() {
      const link = (this.getAttribute("link") || "").replace(/^.*#/, "");
      const pairs = link ? link.split("&") : [];
      for (const [name, key] of Object.entries(keys)) {
        if (this.hasAttribute(name)) pairs.push(key + "=" + encodeURIComponent(this.getAttribute(name)));
      }
      return pairs.join("&");
    }

    address() {
      return new URL("#embed=1&theme=" + this.theme() + "&" + this.link(), this.getAttribute("src") || home).href;
    }

    // theme is the wanted one, or dark where text is light.
    theme() {
      const wanted = this.getAttribute("theme");
      if (wanted && wanted !== "host") return wanted;
      const [r, g, b] = getComputedStyle(this).color.match(/[\d.]+/g) || [0, 0, 0];
      return r * 3 + g * 6 + +b > 1275 ? "dark" : "light";
    }

    colour() {
      const value = this.theme();
      if (this.ready && value !== this.shown) this.send({ type: "theme", value: (this.shown = value) });
    }

    resize(height) {
      if (height) this.high = height;
      const fixed = this.getAttribute("height");
      if (this.high) this.frame.style.height = (fixed || this.high) + "px";
    }

    start() {
      if (this.frame) return;
      seen && seen.unobserve(this);
      const f = (this.frame = document.createElement("iframe"));
      f.title = this.getAttribute("title") || "memtide: schedule of a training step";
      f.allow = "clipboard-write; fullscreen";
      f.style.cssText = "display:block;width:100%;border:0;height:0";
      f.src = this.address();
      this.shown = this.theme();
      views.add(this);
      for (const e of [document.documentElement, document.body]) watch.observe(e, { attributes: true });
      addEventListener("message", this);
      this.append(f);
    }

    // Messages of the view; send() is the other direction.
    handleEvent(e) {
      const m = e.source === this.frame.contentWindow && e.data && e.data.memtide;
      if (!m) return;
      if (m.type === "ready") {
        this.ready = true;
        for (const c of [...this.children]) if (c !== this.frame) c.hidden = true;
        this.colour();
      }
      if (m.type === "size") this.resize(m.height);
      if (m.type === "escape") this.frame.blur();
      this.dispatchEvent(new CustomEvent("memtide-" + m.type, { detail: m, bubbles: true }));
    }

    send(message) {
      if (this.frame) this.frame.contentWindow.postMessage({ memtide: message }, "*");
    }
  });
})();
