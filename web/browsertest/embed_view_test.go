//go:build !js

package browsertest

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
)

// poster is a picture that is shown in place of a view until it is started.
const poster = `<a href="SITE/#v=1&amp;p=vgg16-b32"><img width="300" height="500" style="display:block" alt="x" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='300' height='500'/>"></a>`

// recorded is a script that collects the heights that the first view had over time, and the largest number of
// views that were starting at the same time.
const recorded = `<script>
const heights = [];
let most = 0;
const view = () => document.querySelector("memtide-view");
const look = () => {
  const h = view()?.offsetHeight;
  if (h !== heights.at(-1) && h !== undefined) heights.push(h);
  most = Math.max(most, [...document.querySelectorAll("iframe")].filter((f) => f.style.visibility === "hidden").length);
  requestAnimationFrame(look);
};
addEventListener("DOMContentLoaded", look);
</script>`

// TestTenViews puts ten views with pictures into a page. It checks that none of them starts by itself, and that a
// click starts one.
func TestTenViews(t *testing.T) {
	t.Parallel()
	p := hosting(t, `<script src="SITE/view.js"></script>`+strings.Repeat(`<memtide-view preset="vgg16-b32" budget="70%">`+poster+`</memtide-view>`, 10))
	p.Wait(`document.readyState === "complete"`)
	p.frames() // the browser reports which views are in sight between frames
	p.frames()
	if n := Eval[int](p, `document.querySelectorAll("iframe").length`); n != 0 {
		t.Fatalf("%d of ten views with pictures have started; want none", n)
	}
	if n := len(p.Requests()); n > 2+10 { // the page, view.js, pictures
		t.Errorf("ten views with pictures asked for %d things", n)
	}
	p.Click("memtide-view:nth-of-type(3) img")
	t.Logf("a view is ready %v after the click", p.Wait(`last("ready")`))
	if n := Eval[int](p, `document.querySelectorAll("iframe").length`); n != 1 {
		t.Errorf("%d views have started at one click; want 1", n)
	}
	if !Eval[bool](p, `(() => { const v = document.querySelectorAll("memtide-view")[2], seen = (e) => getComputedStyle(e).visibility === "visible"; return !seen(v.querySelector("img")) && seen(v.querySelector("iframe")) && v.querySelector("iframe").offsetHeight > 300 })()`) {
		t.Error("the view that has started does not stand in the place of its picture")
	}
}

// TestTenViewsInText puts ten views without pictures into a page, with one line of text between them. It checks
// that only views in sight start, one after the other.
func TestTenViewsInText(t *testing.T) {
	t.Parallel()
	long(t)
	p := New(t)
	site := p.URL
	p.Viewport(720, 900)
	for height, most := range map[string]int{"": 2, ` height="200"`: 5} {
		openHost(p, site, `<script src="SITE/view.js"></script>`+recorded+strings.Repeat(`<p>A line of text.</p><memtide-view preset="vgg16-b32" budget="70%"`+height+`></memtide-view>`, 10))
		p.Wait(`last("ready")`)
		for range 3 { // a view that has started may move another one into sight
			p.Wait(`all.filter((m) => m.type === "ready").length === document.querySelectorAll("iframe").length`)
			p.frames()
		}
		if n := Eval[int](p, `document.querySelectorAll("iframe").length`); n < 1 || n > most {
			t.Errorf("%q: %d of ten views have started; want at most the %d in sight", height, n, most)
		}
		if n := Eval[int](p, `most`); n != 1 {
			t.Errorf("%q: %d views were on their way at the same time; want 1", height, n)
		}
		last := Eval[int](p, `document.querySelectorAll("iframe").length`)
		if got := Eval[string](p,
			`[...document.querySelectorAll("memtide-view")].at(-1).textContent`); got != "Starting…" {
			t.Errorf("%q: a view that waits says %q; want that it is starting", height, got)
		}
		Eval[bool](p, `document.querySelector("memtide-view:last-of-type").scrollIntoView(), true`)
		p.Wait(fmt.Sprintf(`all.filter((m) => m.type === "ready").length > %d && getComputedStyle([...document.querySelectorAll("memtide-view")].at(-1).querySelector("iframe") || document.head).visibility === "visible"`, last))
	}
}

// TestViewDoesNotJump checks that the page around a view changes at most once while the view starts: the view
// takes the room of its picture, or a default height, and then the height that it asks for.
func TestViewDoesNotJump(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inner string
		room  int
	}{"picture": {poster, 500}, "nothing": {"", 580}, "text": {"A schedule follows.", 580}} {
		t.Run(name, func(t *testing.T) {
			p := hosting(t, `<script src="SITE/view.js"></script><div style="width:720px"><memtide-view preset="vgg16-b32" budget="70%">`+strings.ReplaceAll(c.inner, "SITE/", "/")+`</memtide-view></div>`+recorded)
			if c.inner == poster {
				p.Wait(`document.querySelector("img")`)
				p.Click("img")
			}
			p.Wait(`last("ready") && last("size")`)
			asked(p)
			if kinds := Eval[[]string](p, `all.map((m) => m.type)`); kinds[0] != "ready" {
				t.Errorf("the view says %v; want nothing before it is ready", kinds)
			}
			heights, size := Eval[[]int](p, `heights`), Eval[int](p, `last("size").height`)
			if heights[0] != c.room || heights[len(heights)-1] != size || len(heights) > 2 {
				t.Errorf("the view was %v px high; want %d, then %d as it says; it has said %s", heights, c.room,
					size, Eval[string](p, `JSON.stringify(all)`))
			}
			if got := Eval[string](p, `getComputedStyle(view()).visibility`); got != "hidden" {
				t.Errorf("what stands below the view is %s; want it hidden", got)
			}
		})
	}
}

// TestViewElement checks that changes of the attributes and of the host page's colours take effect.
func TestViewElement(t *testing.T) {
	t.Parallel()
	p := hosting(t, `<body style="color:#111"><script src="SITE/view.js"></script><memtide-view preset="vgg16-b32" budget="70%" title="A title"></memtide-view></body>`)
	p.Wait(`last("ready") && last("state")`)
	entries := Eval[int](p, `history.length`)
	// The theme follows the host page and is not in the link, so that readers who open the link get their own
	// theme.
	if got, want := Eval[string](p, `last("state").link.split("#")[1]`+unsealed),
		"v=1&p=vgg16-b32&m=70%25&title=A%20title"; got != want {
		t.Errorf("the view shows %s, want %s", got, want)
	}
	Eval[bool](p, `document.querySelector("memtide-view").setAttribute("budget", "80%"), true`)
	p.Wait(`last("state").link.includes("m=80%25")`)
	if got := Eval[int](p, `history.length`); got != entries {
		t.Errorf("changing an attribute made the history %d entries long; want %d", got, entries)
	}
	if !Eval[bool](p, `(() => { const v = document.querySelector("memtide-view"); v.setAttribute("height", "250"); return v.querySelector("iframe").offsetHeight === 250 })()`) {
		t.Error("the attribute height has no effect")
	}
	Eval[bool](p, `document.body.style.color = "oklch(0.95 0.01 250)", true`)
	p.Wait(`document.querySelector("iframe").style.colorScheme === "dark"`)
	asked(p)
	if got := Eval[string](p, `last("state").link`); strings.Contains(got, "theme") {
		t.Errorf("the host's colours are in the link: %s", got)
	}
	if !Eval[bool](p, `(() => { const v = document.querySelector("memtide-view"); v.hidden = true; return v.offsetHeight === 0 })()`) {
		t.Error("the attribute hidden has no effect")
	}
}

// TestViewOfThePackage checks the script of the npm package, which a host has bundled as a module. The script is
// not loaded from the site, so the attribute src names the site, which is another origin.
func TestViewOfThePackage(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../static/view.js") // the package's view.js (npmFiles in cmd/build)
	if err != nil {
		t.Fatal(err)
	}
	p := hosting(t, `<script type="module" src="data:text/javascript;base64,`+base64.StdEncoding.EncodeToString(script)+`"></script><memtide-view src="SITE/" preset="vgg16-b32" budget="70%"></memtide-view>`)
	p.Wait(`last("ready") && last("state")`)
	if got, want := Eval[string](p, `last("state").link.split("#")[1]`+unsealed),
		"v=1&p=vgg16-b32&m=70%25"; got != want {
		t.Errorf("the view shows %s, want %s", got, want)
	}
	if Eval[bool](p, `new URL(document.querySelector("iframe").src).origin === location.origin`) {
		t.Error("the view is of the host's own origin; want another")
	}
}

// TestViewReadsColours checks that a view derives its theme from the colour of the text around it, in every
// notation of colours.
func TestViewReadsColours(t *testing.T) {
	t.Parallel()
	p := hosting(t, `<script src="SITE/view.js"></script>`)
	for colour, want := range map[string]string{
		"#eee": "dark", "#111": "light", "oklch(0.95 0.01 250)": "dark", "oklch(20% 0.02 250)": "light",
		"lab(90 0 0)":                   "dark",
		"color(display-p3 0.1 0.1 0.1)": "light", "color(srgb 0.9 0.9 0.9)": "dark", "hsl(210 10% 90%)": "dark",
		"light-dark(#222, #ddd)": "light",
	} {
		got := Eval[string](p, fmt.Sprintf(`(() => {
			const v = document.createElement("memtide-view");
			v.style.color = %q;
			v.innerHTML = "<img alt=''>";
			document.body.append(v);
			v.firstChild.click();
			const src = v.querySelector("iframe").src;
			v.remove();
			return src;
		})()`, colour))
		if !strings.Contains(got, "&theme="+want+"&") {
			t.Errorf("in text of the colour %s the view opens %s; want it %s", colour, got, want)
		}
	}
}

// TestViewIsMoved checks that a view that is moved to another place in the page starts again there and still
// reacts to its attributes.
func TestViewIsMoved(t *testing.T) {
	t.Parallel()
	p := hosting(t, `<div id="a"><memtide-view preset="vgg16-b32" budget="70%">`+poster+`</memtide-view></div><div id="b"></div><script src="SITE/view.js"></script>`)
	p.Click("img")
	p.Wait(`last("ready") && last("state")`)
	Eval[bool](p, `(() => { const v = document.querySelector("memtide-view"); document.querySelector("#b").append(v); v.addEventListener("memtide-state", () => v.dataset.heard = "1"); return true })()`)
	p.Wait(`all.filter((m) => m.type === "ready").length === 2 && document.querySelector("memtide-view").dataset.heard`)
	Eval[bool](p, `document.querySelector("memtide-view").setAttribute("budget", "80%"), true`)
	p.Wait(`last("state").link.includes("m=80%25")`)
	if got := Eval[string](p,
		`getComputedStyle(document.querySelector("iframe")).visibility + document.querySelectorAll("iframe").length`); got != "visible1" {
		t.Errorf("after the move the frames are %s; want one, visible", got)
	}
}

// TestViewScriptTwice checks that a page may load the script several times, also as a module.
func TestViewScriptTwice(t *testing.T) {
	t.Parallel()
	p := hosting(t, `<script type="module" src="SITE/view.js"></script><script type="module" src="SITE/view.js?again"></script><script src="SITE/view.js" defer></script><memtide-view preset="vgg16-b32" budget="70%"></memtide-view>`)
	p.Wait(`last("ready") && last("state")?.stepMs > 1`)
	p.Wait(`document.readyState === "complete"`)
	for _, line := range p.Console() {
		if strings.HasPrefix(line, "exception:") || strings.HasPrefix(line, "error:") {
			t.Errorf("the console says %q; want nothing", line)
		}
	}
}

// TestViewWithoutSite checks that a view whose site does not answer says so, and that the next view starts.
func TestViewWithoutSite(t *testing.T) {
	t.Parallel()
	const soon = `<script>{ const wait = setTimeout; let first = true; setTimeout = (f, ms, ...rest) => { const now = first && ms === 2e4; if (now) first = false; return wait(f, now ? 1 : ms, ...rest); } }</script>`
	p := hosting(t, soon+`<script src="SITE/view.js"></script><memtide-view src="http://127.0.0.1:9/" preset="vgg16-b32" height="100"></memtide-view><memtide-view preset="vgg16-b32" height="100"></memtide-view>`)
	p.Wait(`document.querySelector("memtide-view").innerText.startsWith("No answer")`)
	if got, want := Eval[string](p, `document.querySelector("memtide-view a").href`),
		"http://127.0.0.1:9/#&p=vgg16-b32"; got != want {
		t.Errorf("the line leads to %s; want %s", got, want)
	}
	p.Wait(`last("ready")`)
}

// TestViewOpensTheWebOnly checks that a view opens only http and https addresses: a script in src would run in
// the host page, and as the target of the view's link.
func TestViewOpensTheWebOnly(t *testing.T) {
	t.Parallel()
	for _, src := range []string{`javascript:parent.PWN=1//`, ` java&#10;script:parent.PWN=1//`,
		`data:text/html,<script>parent.postMessage({memtide: {type: "ready"}}, "*")</script>`, `//`} {
		t.Run(src, func(t *testing.T) {
			p := hosting(t, `<script src="SITE/view.js"></script><memtide-view src='`+src+`' preset="vgg16-b32" height="100"></memtide-view><memtide-view preset="vgg16-b32" height="100"></memtide-view>`)
			p.Wait(`document.querySelector("memtide-view").innerText !== "Starting…"`)
			Eval[bool](p, `document.querySelector("memtide-view").setAttribute("budget", "70%"), true`)
			p.Wait(`last("ready")`) // of the second view
			want := `"src has to begin with https:// or http://", without a link; 1 frame; no script has run`
			got := Eval[string](p, `((v) => JSON.stringify(v.innerText) + ", " + (v.querySelector("a").href ? "linked to " + v.querySelector("a").href : "without a link") +
				"; " + document.querySelectorAll("iframe").length + " frame; " + (window.PWN ? "a script has run" : "no script has run"))(document.querySelector("memtide-view"))`)
			if got != want {
				t.Errorf("src=%q: got %s; want %s", src, got, want)
			}
		})
	}
}
