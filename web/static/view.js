// <memtide-view>: a live schedule in any page.
//
//   <script src="https://HOST/view.js" defer></script>
//   <memtide-view preset="resnet101-b32" budget="60%" height="480">
//     <a href="https://HOST/#p=resnet101-b32"><img src="picture.svg" alt="..."></a>
//   </memtide-view>
//
// What stands between the tags stays until the live view is ready. With a
// picture there, a click starts it; without one it starts when it is scrolled
// into view. The view tells its height, so there is no scroll bar in it.
"use strict";
(() => {
  const home = document.currentScript ? new URL(".", document.currentScript.src).href : document.baseURI;
  const keys = { preset: "p", data: "d", budget: "m", strategy: "s", device: "dev", bandwidth: "bw", duplex: "duplex", transfers: "xfer", allocator: "alloc", range: "t", select: "sel", show: "show", controls: "controls", title: "title", theme: "theme" };
  const seen = "IntersectionObserver" in window && new IntersectionObserver((all) => {
    for (const e of all) if (e.isIntersecting) e.target.start();
  }, { rootMargin: "200px" });

  customElements.define("memtide-view", class extends HTMLElement {
    static observedAttributes = ["link", "height", ...Object.keys(keys)];

    connectedCallback() {
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
      if (seen) seen.unobserve(this);
      removeEventListener("message", this);
    }

    attributeChangedCallback() {
      if (this.frame) this.frame.src = this.address();
    }

    // address is the link of the view: attributes, over what `link` says.
    address() {
      const link = (this.getAttribute("link") || "").replace(/^.*#/, "");
      const pairs = link ? link.split("&") : [];
      for (const [name, key] of Object.entries(keys)) {
        if (this.hasAttribute(name)) pairs.push(key + "=" + encodeURIComponent(this.getAttribute(name)));
      }
      return new URL("#embed=1&" + pairs.join("&"), this.getAttribute("src") || home).href;
    }

    start() {
      if (this.frame) return;
      if (seen) seen.unobserve(this);
      const f = (this.frame = document.createElement("iframe"));
      f.title = this.getAttribute("title") || "memtide: schedule of a training step";
      f.allow = "clipboard-write; fullscreen";
      f.style.cssText = "display:block;width:100%;border:0;height:0";
      f.src = this.address();
      addEventListener("message", this);
      this.append(f);
    }

    // Messages of the view; send() is the other direction.
    handleEvent(e) {
      const m = e.source === this.frame.contentWindow && e.data && e.data.memtide;
      if (!m) return;
      if (m.type === "ready") for (const c of [...this.children]) if (c !== this.frame) c.hidden = true;
      if (m.type === "size") this.frame.style.height = (this.getAttribute("height") || m.height) + "px";
      this.dispatchEvent(new CustomEvent("memtide-" + m.type, { detail: m, bubbles: true }));
    }

    send(message) {
      if (this.frame) this.frame.contentWindow.postMessage({ memtide: message }, "*");
    }
  });
})();
