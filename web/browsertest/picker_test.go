//go:build !js

package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// write types text into the element that has the focus.
func write(t *testing.T, p *Page, text string) {
	t.Helper()
	for _, c := range text {
		if _, err := chromedp.Call(p.Context(), input.InsertText, input.InsertTextParams{Text: string(c)}); err != nil {
			t.Fatal(err)
		}
	}
}

const listOpen = `document.querySelector(".picker-panel")`

// TestPickNetwork checks that a network can be found by typing and chosen with the keyboard, that it is then in
// the link, and that Back restores the network before it.
func TestPickNetwork(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	entries := `document.querySelectorAll(".picker-option").length`
	if got := Eval[int](p, entries); got != 0 {
		t.Errorf("the closed list has %d entries in the page; want none", got)
	}
	p.Click(`[data-testid="preset"]`)
	p.Wait(`document.activeElement === byID("picker-find")`)
	all := Eval[int](p, entries)
	write(t, p, "dense")
	p.Wait(`[...document.querySelectorAll(".picker-option")].every((e) => e.textContent.includes("DenseNet"))`)
	if got := Eval[int](p, entries); got < 3 || got >= all {
		t.Errorf(`"dense" leaves %d of %d entries; want the DenseNets`, got, all)
	}
	active := `document.getElementById(byID("picker-find").getAttribute("aria-activedescendant"))`
	if got := Eval[string](p, active+`.textContent`); !strings.HasPrefix(got, "DenseNet-121") {
		t.Errorf("the active entry is %q; want DenseNet-121", got)
	}
	key(t, p, "ArrowDown", "ArrowDown")
	p.Wait(active + `.id === "picker-densenet161" && ` + active + `.ariaSelected === "true"`)
	key(t, p, "ArrowUp", "ArrowUp")
	p.Wait(active + `.id === "picker-densenet121"`)
	key(t, p, "Enter", "Enter")
	p.Wait(`!` + listOpen + ` && byID("preset").textContent === "DenseNet-121" && location.hash.includes("p=densenet121-b32") && ` + untilReady)
	if got := Eval[string](p, `document.activeElement.dataset.testid`); got != "preset" {
		t.Errorf("the focus is on %q; want the button of the list", got)
	}
	Eval[bool](p, "history.back(); true")
	p.Wait(`byID("preset").textContent === "ResNet-101" && !location.hash.includes("densenet") && ` + untilReady)
	p.Quiet()
}

// TestPickerCloses checks that Escape and a click elsewhere close the list and change nothing.
func TestPickerCloses(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	hash := Eval[string](p, "location.hash")
	key(t, p, "KeyM", "m")
	p.Wait(`document.activeElement === byID("picker-find")`)
	write(t, p, "zebra")
	p.Wait(`document.querySelector(".picker-none").textContent !== "" && document.querySelectorAll(".picker-option").length === 0`)
	key(t, p, "Enter", "Enter")
	key(t, p, "Escape", "Escape")
	p.Wait(`!` + listOpen + ` && document.activeElement === byID("preset")`)
	p.Click(`[data-testid="preset"]`)
	p.Wait(listOpen)
	p.Click(`.tag`)
	p.Wait(`!` + listOpen)
	if got := Eval[string](p, "location.hash"); got != hash {
		t.Errorf("the address has become %q; want %q", got, hash)
	}
	p.Quiet()
}

// TestVariants checks that size, precision and device are in the link, change the numbers, and are undone by
// Back. The link to the host changes with the device, unless it was chosen.
func TestVariants(t *testing.T) {
	t.Parallel()
	p := settledPage(t, "#v=1&p=resnet50-b8&s=keepall&m=100%25")
	step := func() string { return result(p, "step-time") }
	first := step()
	Eval[bool](p, `control("image", "500"); true`)
	p.Wait(`location.hash.includes("p=resnet50-500px-b8") && ` + untilReady)
	p.Wait(`result("step-time") !== ` + `"` + first + `"`)
	large := step()
	Eval[bool](p, `control("device", "a100-40gb"); true`)
	p.Wait(`location.hash.includes("p=resnet50-500px-on-a100-40gb-b8") && byID("device").value === "a100-40gb" && ` +
		untilReady)
	p.Wait(`document.querySelector(".sources").textContent.includes("estimated, for A100-40GB-SXM") && result("step-time") !== "` + large + `"`)
	Eval[bool](p, `control("precision", "f16"); true`)
	p.Wait(`location.hash.includes("-f16-") && ` + untilReady)
	Eval[bool](p, `control("efficiency", "20"); true`)
	p.Wait(`location.hash.includes("-20pct-") && byID("efficiency").value === "20" && ` + untilReady)
	hash := Eval[string](p, "location.hash")
	again := settledPage(t, hash)
	if got, want := result(again, "step-time"), step(); got != want {
		t.Errorf("opened from the link a step takes %s; want %s", got, want)
	}
	Eval[bool](p, `control("device", "h100"); true`)
	p.Wait(`location.hash.includes("-on-h100-") && location.hash.includes("dev=h100") && ` + untilReady)
	for range 5 { // the second device, 20 %, 16 bits, the first device, 500 px
		p.Back()
	}
	p.Wait(`byID("image").value === "224" && byID("device").value === "v100-pcie-16gb" && result("step-time") === "` +
		first + `" && ` + untilReady)
	p.Quiet()
}

// TestWays checks that the controls beside the batch size choose the second algorithms of convolutions and
// separate operators, and that a line explains the choice.
func TestWays(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, "#v=1&p=vgg16-b64&m=90%25&s=vdnnpp")
	first := result(p, "step-time")
	Eval[bool](p, `control("algorithms", "mp"); true`)
	p.Wait(`location.hash.includes("p=vgg16-mp-b64") && result("step-time") !== "` + first +
		`" && result("variant-note").startsWith("Convolutions: m needs") && ` + untilReady)
	Eval[bool](p, `byID("more").click(), true`)
	p.Wait(`byID("kind")`)
	Eval[bool](p, `control("kind", "graph"); true`)
	p.Wait(`location.hash.includes("p=vgg16-graph-b64") && byID("algorithms").closest(".control").hidden && ` +
		untilReady)
	Eval[bool](p, `control("functions", "separate"); true`)
	p.Wait(`location.hash.includes("p=vgg16-graph-separate-b64") && result("variant-note").startsWith("Each operator is a function") && ` + untilReady)
	Eval[bool](p, `control("functions", "joined"); true`)
	p.Wait(`location.hash.includes("p=vgg16-graph-b64") && result("variant-note") === "" && ` + untilReady)
	p.Quiet()
}

// TestPickBuffers checks that a preset of buffers opens the address view and stays in the link.
func TestPickBuffers(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	Eval[bool](p, `pick("larger-pool").then(() => true)`)
	p.Wait(`document.querySelector("#app").dataset.kind === "memory" && byID("preset").value === "larger-pool" && byID("outcome") && result("outcome") !== ""`)
	hash := Eval[string](p, "location.hash")
	if !strings.Contains(hash, "p=larger-pool-b1") || strings.Contains(hash, "kind=") {
		t.Errorf("the address is %q; want the preset in it", hash)
	}
	again := Open(t, hash)
	again.Wait(`document.querySelector("#app") && document.querySelector("#app").dataset.kind === "memory" && document.body.dataset.state === "ready"`)
	again.Quiet()
	Eval[bool](p, "history.back(); true")
	p.Wait(`document.querySelector("#app").dataset.kind === "network" && byID("preset").value === "resnet101" && ` +
		untilReady)
	p.Quiet()
}

// TestPickerAccessible checks that the open list keeps axe-core's rules.
func TestPickerAccessible(t *testing.T) {
	long(t)
	t.Parallel()
	source := axe(t)
	p := New(t)
	for _, c := range []struct {
		name, address, query string
		width                int64
	}{
		{"all", "", "", 1400},
		{"phone", "", "", 390},
		{"dark", "#v=1&p=resnet101-b32&m=60%25&theme=dark", "gpt", 1400},
		{"none", "", "zebra", 1400},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "phone" {
				long(t)
			}
			p.For(t)
			p.Viewport(c.width, 900)
			p.Fresh(c.address)
			p.Wait(untilReady)
			Eval[bool](p, hands)
			p.Click(`[data-testid="preset"]`)
			p.Wait(`document.activeElement === byID("picker-find")`)
			write(t, p, c.query)
			p.Drawn()
			for _, v := range violations(p, source) {
				t.Errorf("%s breaks the rule %s (%s): %s\n  %s", c.name, v.ID, v.Impact, v.Help,
					strings.Join(v.where(), "\n  "))
			}
		})
	}
}
