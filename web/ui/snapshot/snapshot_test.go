//go:build !js

package snapshot

import (
	"strings"
	"testing"
	"time"

	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/address"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// shown returns the parts of the page about a snapshot.
func shown(t *testing.T, s *state.State) string {
	t.Helper()
	return pagetest.HTML(t, &Answer{S: s}) + pagetest.HTML(t, &Remedies{S: s})
}

// contains reports each of texts that is not in page as an error.
func contains(t *testing.T, what, page string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page does not contain %q", what, want)
		}
	}
}

// TestDoctorPage checks that the page of a snapshot shows the failed request, the holes, the buffers on both
// sides of the largest hole, the memory in use by category, and what would have helped.
func TestDoctorPage(t *testing.T) {
	s := pagetest.Snapshot(t, "snapshot.pickle")
	page := shown(t, s)
	pagetest.WellFormed(t, page)
	contains(t, "a failure", page,
		"<b>Ran out of memory: </b>30 MiB was asked for, and 54 MiB was free in 3 holes, the largest 24 MiB.",
		"It was for scaled_dot_product_attention, net.py:41 forward. Then 100 MiB was reserved, and 2 MiB more could be. PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True would have helped.",
		"The largest hole, 6 MiB too small, lies between <button",
		">8 MiB of optimizer (adamw, train.py:12 main; kept to the end)</button> and <button",
		">2 MiB of unknown use (log.py:4 keep_loss; kept to the end)</button>.",
		"46 MiB in 7 buffers when the request failed, event 35", "weights 10 MiB", "optimizer 8 MiB",
		"activations 20 MiB", "unknown use 8 MiB", "reserved, not used 54 MiB", "102 MiB in all could be reserved",
		`<code data-testid="remedy-line">PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True</code>`,
		"100 MiB, all find room", "6 more settings",
		"2 MiB more with each of 5 steps.", "log.py:4 keep_loss", "8 MiB in 4 buffers so far")
	if strings.Contains(page, `data-testid="recording-device"`) {
		t.Error("devices are offered, but the other one holds nothing")
	}
	var numbers []string
	for _, n := range address.Numbers(s) {
		numbers = append(numbers, n.Value)
	}
	if got := strings.Join(numbers, ", "); got != "100 MiB, 100 MiB, 0 %, 56 %, 22" {
		t.Errorf("the numbers are %s; want the peak without the request that found no room", got)
	}
}

// TestDoctorGivenBack checks the page of a run that gave a segment back before the request failed: the bar ends at what
// was reserved then, within what could be, and the settings that change nothing are one line.
func TestDoctorGivenBack(t *testing.T) {
	s := pagetest.Snapshot(t, "../../../profiles/formats/snapshot/testdata/snapshot.pickle")
	page := shown(t, s)
	pagetest.WellFormed(t, page)
	contains(t, "a segment given back", page, "Then 22 MiB was reserved, and 1 MiB more could be.",
		"reserved, not used 12 MiB", "23 MiB in all could be reserved", ">10 more settings without effect</summary>",
		">6 MiB of gradients (no stack recorded; kept to the end)</button> and the end of its segment.</p>")
	folded := page[strings.Index(page, "<details>"):]
	if n := strings.Count(page, `class="gain"`) - strings.Count(folded, `class="gain"`); n != 1 {
		t.Errorf("%d settings stand open; want PyTorch's default", n)
	}
}

// TestDoctorWithoutFailure checks that the page says how much memory is in use at the peak, and how much is
// reserved but not used, if no request failed.
func TestDoctorWithoutFailure(t *testing.T) {
	s := pagetest.Snapshot(t, "first.pickle")
	page := shown(t, s)
	pagetest.WellFormed(t, page)
	contains(t, "no failure", page, "<b>No request failed: </b>", "was held at the peak, and", "reserved then",
		"at the peak, event ", "No setting is advised: a replay of the settings of the run reserves 86 MiB, and 100 MiB was reserved (−14 %).", `data-kind="needs"`)
	if strings.Contains(page, `data-testid="between"`) {
		t.Error("a hole is named that no request was too large for")
	}
}

// TestDoctorWithoutEvents checks that the page of a snapshot without events says what cannot be known, and that
// nothing is replayed.
func TestDoctorWithoutEvents(t *testing.T) {
	s := pagetest.Snapshot(t, "unrecorded.pickle")
	page := shown(t, s)
	pagetest.WellFormed(t, page)
	contains(t, "no events", page,
		"<b>No events: </b>20 MiB was held, and 180 MiB of the 200 MiB reserved was not used.",
		"Without events nobody can tell whether a request failed, what other settings would change, and what grows. Call torch.cuda.memory._record_memory_history() before the step.",
		"Nothing tells without events.")
	if strings.Contains(page, "No request failed: ") || strings.Contains(page, `data-testid="replays"`) ||
		len(s.Doctor().Replays) > 0 {
		t.Errorf("%d replays of what was not recorded, or it is said that nothing failed: %s",
			len(s.Doctor().Replays), page)
	}
}

// TestDoctorExpandable checks that the address space of expandable segments that is not mapped is named
// separately, and that a recording of a forward alone has no steps.
func TestDoctorExpandable(t *testing.T) {
	page := shown(t, pagetest.Snapshot(t, "expandable.pickle"))
	contains(t, "expandable segments", page, "12 MiB was free in 2 holes, the largest 10 MiB.",
		"Address space that is not mapped, 20 MiB, is neither free nor a hole.",
		"No stack is of a backward or of an optimizer, so steps cannot be told.")
}

// TestDoctorMoments checks that another moment has its own bar beside that of the failure, and that the flame
// graph is about that moment. A click selects a buffer beside the hole, and a second click deselects it.
func TestDoctorMoments(t *testing.T) {
	s := pagetest.Snapshot(t, "snapshot.pickle")
	m := s.PlacesModel()
	pagetest.Do(t, s, state.SetPlayhead{At: 2 * time.Microsecond})
	if a := s.Alive(); a.At != 2 {
		t.Fatalf("told is event %d, want 2", a.At)
	}
	page := shown(t, s)
	pagetest.WellFormed(t, page)
	contains(t, "event 2", page, "46 MiB in 7 buffers when the request failed, event 35", `data-testid="usage-at"`,
		`at event 2</p>`)
	if strings.Count(page, "at event 2<") != 2 {
		t.Error("want the moment at the second bar and at the flame graph")
	}
	show := input.Command{Do: "show-buffer", Index: 4}.Message(s)
	pagetest.Do(t, s, show)
	if s.View.Selected != (lookup.Target{Kind: lookup.OnBuffer, Index: 4}) || s.Alive().At != 35 ||
		m != s.PlacesModel() {
		t.Errorf("selected is %+v after event %d; want buffer 4 when the request failed", s.View.Selected, s.Alive().At)
	}
	if pagetest.Do(t, s, show); s.View.Selected.Kind != lookup.Nothing {
		t.Errorf("selected is still %+v", s.View.Selected)
	}
}

// TestFlameKeys checks that keys move through the flame graph and zoom it, and that it can be saved as a picture.
func TestFlameKeys(t *testing.T) {
	s := pagetest.Snapshot(t, "snapshot.pickle")
	begin := FlameSentence(s)
	for _, step := range []struct{ key, want string }{
		{"ArrowDown", "net.py:41 forward: 20 MiB, 43 % of all"},
		{"ArrowRight", "net.py:8 __init__: 10 MiB, 22 % of all"},
		{"Enter", "net.py:8 __init__: 10 MiB, 22 % of all"}, {"Backspace", begin}, {"ArrowLeft", begin},
	} {
		pagetest.Do(t, s, input.FlameKey(input.Key{Key: step.key}, s))
		if got := FlameSentence(s); got != step.want {
			t.Errorf("after %s: %q, want %q", step.key, got, step.want)
		}
	}
	if input.FlameKey(input.Key{Key: "x"}, s) != nil {
		t.Error("x does something")
	}
	f, ok := FlameFile(s)
	if !ok || f.Name != "snapshot.pickle-stacks.svg" {
		t.Errorf("the file is %q, %t; want snapshot.pickle-stacks.svg", f.Name, ok)
	}
	pagetest.WellFormed(t, string(f.Bytes))
	contains(t, "the picture", string(f.Bytes), "What is held, by call stack", "net.py:41 forward")
}

// TestRemedies checks that the settings are listed in the order of their use once all of them have been replayed,
// and in the order of their replays before. It also checks the texts after replays were stopped or failed.
func TestRemedies(t *testing.T) {
	s := pagetest.Snapshot(t, "snapshot.pickle")
	d := s.Doctor()
	c := &Remedies{S: s}
	if got := c.tried(); len(got) != 11 || !got[0].good || got[0].title != "expandable_segments:True" ||
		got[1].reserved > got[10].reserved {
		t.Errorf("the settings are %+v; want the advised one and then those that reserve least", got)
	}
	d.Advice, d.Replays, d.Stopped = nil, d.Replays[:3], true
	s.View.Playhead = 0
	contains(t, "stopped", shown(t, s), "Replay the other 8")
	d.Failed = "no room for <it>"
	contains(t, "failed", shown(t, s), "No room for &lt;it&gt;.")
	if got := c.tried(); got[0].title != "PyTorch&#39;s default" && got[0].title != "PyTorch's default" || len(got) != 3 {
		t.Errorf("while replays are missing the settings are %+v; want them as they came", got)
	}
}
