// <memtide-view>: a live schedule in any page.
//
//   <script src="https://HOST/view.js" defer></script>
//   <memtide-view preset="resnet101-b32" budget="60%">
//     <a href="https://HOST/#p=resnet101-b32"><img src="picture.svg" alt="..."></a>
//   </memtide-view>
//
// What stands between the tags stays until the live view is ready. With a
// picture there, a click starts it; without one its room is kept free, and it
// starts when it is in sight, one view of the page after the other. The view
// tells its height, so there is no scroll bar in it, and is as light or dark as
// the text around it asks for. Names are private where they can be: the build
// shortens those.
"use strict";
(() => {
  const page = document;
  const tag = "memtide-view";
  if (customElements.get(tag)) return; // the page has this script twice
  const script = page.currentScript || page.querySelector("[src*='view.js']"); // a module has no current script
  const keys = { preset: "p", data: "d", budget: "m", strategy: "s", device: "dev", bandwidth: "bw", duplex: "", transfers: "xfer", allocator: "alloc", range: "t", select: "sel", show: "", controls: "", title: "" }; // in links; empty: the same
  const make = (name) => page.createElement(name);
  // The transition tells of every change of colour, wherever it comes from.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:where(${tag}:not([hidden])){display:block;position:relative;transition:color 1ms}`);
  page.adoptedStyleSheets.push(sheet);

  const waiting = new Set(); // views in sight
  let starting; // the one that is not ready yet
  // next starts the next one, unless another one than done is starting.
  const next = (done) => {
    if (starting == done) starting = 0;
    for (const v of waiting) starting || v.start();
  };
  const seen = new IntersectionObserver((all) => {
    for (const e of all) waiting[e.isIntersecting ? "add" : "delete"](e.target);
    next();
  });

  customElements.define(tag, class extends HTMLElement {
    static observedAttributes = ["link", "height", "theme", ...Object.keys(keys)];
    #frame;
    #note;
    #phase; // 1: starting, 2: ready

    connectedCallback() {
      if (page.readyState == "loading") return addEventListener("DOMContentLoaded", () => this.connectedCallback()); // its picture may not be there yet
      if (this.#frame) return this.start(); // it was moved
      const poster = this.querySelector("a:has(img,svg),img,svg"); // with its link, for the keyboard
      if (poster) {
        poster.onclick = (e) => {
          if (e.ctrlKey || e.metaKey || e.shiftKey) return; // a new tab or window, as links do
          e.preventDefault();
          this.start();
        };
      } else {
        this.#fit();
        this.#say();
        seen.observe(this);
      }
    }

    disconnectedCallback() {
      this.#phase = 0;
      seen.unobserve(this);
      waiting.delete(this);
      removeEventListener("message", this);
      next(this);
    }

    attributeChangedCallback(name) {
      if (!this.#frame) return;
      if (this.#phase > 1) name == "height" ? this.#fit() : name == "theme" ? this.#colour() : this.send({ type: "open", link: this.#link() });
      else this.#frame.src = this.#address() || "about:blank";
    }

    #own(name) {
      return this.getAttribute(name) || "";
    }

    // link is that of the view: attributes, over what `link` says.
    #link() {
      let link = this.#own("link").replace(/^.*#/, "");
      for (const { name, value } of this.attributes) if (name in keys) link = link.replace(/&sum=\w*/, "") + "&" + (keys[name] || name) + "=" + encodeURIComponent(value);
      return link;
    }

    // address is that of the page; undefined where src is none of the web, such as a
    // script, which would run in the page around the view.
    #address(embed = "#embed=1&theme=" + this.#theme() + "&") {
      const src = this.#own("src");
      try {
        const { href, protocol } = new URL(embed + this.#link(), src || new URL(".", script.src));
        if (!src || /^https?:$/.test(protocol)) return href;
      } catch {}
    }

    // theme is the wanted one, or dark where text is light.
    #theme() {
      const wanted = this.#own("theme");
      if (wanted && wanted != "host") return wanted;
      const pen = make("canvas").getContext("2d");
      pen.fillStyle = getComputedStyle(this).color; // in any notation of CSS
      pen.fillRect(0, 0, 1, 1);
      return pen.getImageData(0, 0, 1, 1).data[1] > 127 ? "dark" : "light"; // green is most of what is light
    }

    #colour() {
      // Where the frame's own scheme differs from this, browsers paint a ground.
      this.send({ type: "theme", value: (this.#frame.style.colorScheme = this.#theme()) });
    }

    #fit(height) {
      this.style.height = (this.#own("height") || height || 580) + "px";
    }

    // say puts a line that leads to the page over what is shown.
    #say(text = "Starting…") {
      const note = (this.#note ||= make("a"));
      const href = this.#address("#");
      note.textContent = text;
      href ? (note.href = href) : note.removeAttribute("href");
      note.style.cssText = "position:absolute;top:0;right:0;background:Canvas;padding:4px";
      this.append(note);
    }

    #fail(text) {
      this.#phase = 2;
      this.#say(text);
      next(this);
    }

    start() {
      if (this.#phase) return;
      const address = this.#address();
      if (!address) return this.#fail("src has to begin with https:// or http://");
      this.#phase = 1;
      starting = this;
      const f = (this.#frame ||= make("iframe"));
      f.title = this.title || "memtide";
      f.style.cssText = "position:absolute;inset:0;width:100%;height:100%;border:0;visibility:hidden";
      f.src = address;
      this.style.visibility = "";
      this.ontransitionend = () => this.#colour();
      addEventListener("message", this);
      this.append(f);
      this.#say();
      setTimeout(() => this.#phase > 1 || this.#fail("No answer: open"), 2e4);
    }

    // Messages of the view; send() is the other direction.
    handleEvent(e) {
      const f = this.#frame;
      const m = e.source == f.contentWindow && e.data?.memtide;
      if (!m) return;
      if (m.type == "ready") {
        this.#phase = 2;
        this.style.visibility = "hidden"; // all but the frame, text too
        f.style.visibility = "visible";
        this.#colour();
        next(this);
      }
      if (m.height) this.#fit(m.height);
      if (m.code == "start") this.#fail(m.text);
      if (m.type == "escape") f.blur();
      this.dispatchEvent(new CustomEvent("memtide-" + m.type, { detail: m, bubbles: true }));
    }

    send(message) {
      this.#frame?.contentWindow.postMessage({ memtide: message }, "*");
    }
  });
})();
