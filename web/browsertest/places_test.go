//go:build !js

package browsertest

import (
	"fmt"
	"strings"
	"testing"
)

// drawn returns the picture of a canvas as a data URL.
func drawn(p *Page, host string) string {
	return Eval[string](p, fmt.Sprintf(`document.querySelector('[data-testid="%s"] canvas.base').toDataURL()`, host))
}

// TestAddresses checks the address view of the default example: best fit finds no room for a request although
// enough memory is free, the page says so, and optimal placement shows another map.
func TestAddresses(t *testing.T) {
	t.Parallel()
	p := settledPage(t, resnet)
	if got := Eval[bool](p, `document.querySelector("#places-body").hidden`); !got {
		t.Error("the address view is open at first")
	}
	above := Eval[float64](p, `byID("memory").getBoundingClientRect().top + scrollY`)
	p.Click(`[data-testid="places"]`)
	p.Wait(`byID("outcome") && result("outcome").includes("largest hole")`)
	for _, want := range []string{" needs ", "largest hole ", "free ", "would do"} {
		if got := result(p, "outcome"); !strings.Contains(got, want) {
			t.Errorf("the outcome is %q; want %q in it", got, want)
		}
	}
	if got := result(p, "place-verdict"); got != "checked up to the failure" {
		t.Errorf("the placement up to the failure is %q; want it checked", got)
	}
	p.Wait(`location.hash.includes("alloc=best-fit")`)
	if got := Eval[float64](p, `byID("memory").getBoundingClientRect().top + scrollY`); got != above {
		t.Errorf("the pictures moved from %v to %v; want no jump", above, got)
	}
	p.Drawn()
	before, map0 := drawn(p, "addresses"), drawn(p, "map")
	Eval[bool](p, `control("alloc", "optimal"); true`)
	p.Wait(`result("outcome").startsWith("All buffers find room")`)
	p.Drawn()
	if drawn(p, "addresses") == before || drawn(p, "map") == map0 {
		t.Error("another allocator shows the same pictures")
	}
	if n := Eval[int](p, `document.querySelectorAll(".alive tbody tr").length`); n < 10 {
		t.Errorf("%d buffers are listed at the peak; want at least 10", n)
	}
	hash := Eval[string](p, "location.hash")
	if !strings.Contains(hash, "alloc=optimal") {
		t.Fatalf("the address is %q; want the allocator in it", hash)
	}
	again := settledPage(t, hash)
	again.Wait(`byID("outcome") && result("outcome").startsWith("All buffers find room") && byID("alloc").value === "optimal"`)
	p.Click(`[data-testid="places"]`)
	p.Wait(`document.querySelector("#places-body").hidden && !location.hash.includes("alloc")`)
	p.Quiet()
}

// TestAllocatorParameters checks that the parameters of an allocator appear and disappear with it and are in the
// address.
func TestAllocatorParameters(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, resnet)
	p.Click(`[data-testid="places"]`)
	p.Wait(`byID("outcome") && result("outcome") !== ""`)
	const order = `document.getElementById("alloc-order")`
	p.Wait(order + ` && ` + order + `.value === "as-played" && ` + order + `.options.length === 3`)
	choose := func(id, value string) {
		Eval[bool](p, `((e) => { e.value = "`+value+`"; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.getElementById("`+id+`")); true`)
	}
	choose("alloc-order", "prefetch-first")
	p.Wait(`location.hash.includes("alloc.order=prefetch-first")`)
	choose("alloc", "va")
	p.Wait(`!` + order + ` && document.getElementById("alloc-chunk").value === "40" && document.getElementById("alloc-small").value === "chunk" && !location.hash.includes("order")`)
	choose("alloc", "optimal")
	p.Wait(`!document.getElementById("alloc-chunk") && !document.getElementById("alloc-small")`)
	choose("alloc", "high-end")
	p.Wait(order + ` && ` + order + `.value === "as-played"`)
	p.Quiet()
}

// TestMemoryFile checks that a file of buffers opens the address view and that Back restores the network.
func TestMemoryFile(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, resnet)
	csv := "id,lower,upper,size\n0,0,3,4\n1,2,5,2\n2,4,9,3\n3,6,9,4\n"
	Eval[bool](p, fmt.Sprintf(`drop("buffers.csv", %q); true`, csv))
	p.Wait(`document.querySelector("#app").dataset.kind === "memory" && byID("outcome") && result("outcome") !== ""`)
	if got := result(p, "buffers"); got != "4" {
		t.Errorf("the page counts %s buffers; want 4", got)
	}
	if got := result(p, "outcome"); !strings.HasPrefix(got, "All 4 buffers ") {
		t.Errorf("the outcome is %q; want that all find room", got)
	}
	for _, gone := range []string{".controls", ".tradeoff", `[data-testid="timeline"]`} {
		if shown := Eval[bool](p, fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().height > 0`,
			gone)); shown {
			t.Errorf("%s is shown; want the address view alone", gone)
		}
	}
	Eval[bool](p, `control("alloc", "optimal"); true`)
	p.Wait(`result("place-verdict") === "✓ layout checked"`)
	Eval[bool](p, "history.back(); true")
	p.Wait(`document.querySelector("#app").dataset.kind === "network" && document.body.dataset.state === "ready" && byID("preset").value === "resnet101"`)
	p.Quiet()
}

// TestMomentInLink checks that the link holds the moment that the memory map shows.
func TestMomentInLink(t *testing.T) {
	long(t)
	t.Parallel()
	p := settledPage(t, "#v=1&p=vgg16-b32&m=90%25&alloc=best-fit")
	const map0 = `document.querySelector('[data-testid="map"]').ariaLabel`
	p.Wait(`result("outcome") !== ""`)
	Eval[bool](p, `(() => {
		const e = document.querySelector('[data-testid="addresses"] .paint'), b = e.getBoundingClientRect();
		const at = {bubbles: true, pointerId: 1, button: 0, clientX: b.left + b.width * 0.4, clientY: b.top + b.height * 0.5};
		for (const type of ["pointermove", "pointerdown", "pointerup", "pointerleave"]) e.dispatchEvent(new PointerEvent(type, at));
		return true
	})()`)
	p.Wait(`/&at=[0-9.]+/.test(location.hash)`)
	hash, before := Eval[string](p, "location.hash"), Eval[string](p, map0)
	p.Drawn()
	shot := drawn(p, "map")
	again := settledPage(t, hash)
	again.Wait(`result("outcome") !== ""`)
	again.Drawn()
	if got := Eval[string](again, map0); got != before || drawn(again, "map") != shot {
		t.Errorf("opened from %s the map is %q, or another picture; want %q", hash, got, before)
	}
	if got := Eval[string](again, "location.hash"); got != hash {
		t.Errorf("the address has become %s; want %s", got, hash)
	}
}
