package link

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/web/choice"
)

// sample returns a profile like that of a real network: n stages with noisy times, exact to the microsecond, and
// repeated sizes.
func sample(n int) *profiles.Profile {
	r := rand.New(rand.NewPCG(1, 2))
	c := &engine.Chain{Name: "net", Batch: 32, Input: 19267584,
		Resident: engine.Resident{Weights: 102228128, Grads: 102228128, Optimizer: 102228128}}
	size := engine.Bytes(102760448)
	for k := range n {
		if k%40 == 39 {
			size /= 2
		}
		f := time.Duration(2000+r.IntN(500)) * time.Microsecond
		c.Stages = append(c.Stages, engine.Stage{Name: fmt.Sprintf("layer%d.%d", 1+k/40, k%40), Kind: "conv",
			Forward: f, Back: 2*f + time.Duration(r.IntN(300))*time.Microsecond,
			Out: size, Saved: 4 * size, Grad: size, FwdTemp: size, BwdTemp: size / 4 * 3})
	}
	c.Stages = append(c.Stages, engine.Stage{Name: "loss"})
	return &profiles.Profile{Name: "net", Batch: 32, DType: "f32", Format: "memtide", Chain: c,
		Source: profiles.Source{Tool: "collect.py", Times: profiles.Measured, Sizes: profiles.Exact, Device: "V100",
			Notes: []string{"a note"}},
		Device: &engine.Device{Name: "V100-PCIE-16GB", Memory: 16 << 30, ToHost: 12_500_000_000, ToDev: 12_500_000_000}}
}

func TestBlobRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 50, 339, 2 * tried} {
		want := sample(n)
		for k := range min(tried, n-tried) { // a long profile whose beginning is not typical
			want.Chain.Stages[k] = engine.Stage{Name: want.Chain.Stages[k].Name}
		}
		got, err := decodeBlob(encodeBlob(want), newBudget())
		if err != nil {
			t.Fatalf("%d stages: %v", n, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d stages: got %+v\nwant %+v", n, got.Chain, want.Chain)
		}
	}
	bare := &profiles.Profile{Warnings: []string{"odd"},
		Chain: &engine.Chain{Name: "other", LossGradAllocated: true,
			Stages: []engine.Stage{{Forward: engine.MaxTime - 1, Out: engine.MaxBytes/2 - 1,
				Saved: engine.MaxBytes/2 + 1}, {Back: 1}}}}
	got, err := decodeBlob(encodeBlob(bare), newBudget())
	if err != nil || !reflect.DeepEqual(got, bare) {
		t.Errorf("extreme numbers: got %+v, %v; want %+v", got, err, bare)
	}
}

// TestLinkLength checks that links are short, with notes and device: at most 1,600 characters for a profile of
// 339 stages, and 480 for one of 50 stages.
func TestLinkLength(t *testing.T) {
	for n, most := range map[int]int{50: 480, 339: 1600} {
		l := Link{Said: choice.Said{Profile: sample(n), Strategy: "rotor",
			Budget: choice.Budget{Bytes: 12 * engine.GiB}}}
		if got := len(l.String()); got > most {
			t.Errorf("%d stages: %d characters, want at most %d", n, got, most)
		} else {
			t.Logf("%d stages: %d characters", n, got)
		}
	}
}

// TestCutAndDamage checks that every cut and every flipped bit of a blob is detected.
func TestCutAndDamage(t *testing.T) {
	full := encodeBlob(sample(50))
	for n := range len(full) {
		if n < 3 {
			continue // too short to look like a cut blob
		}
		_, err := decodeBlob(full[:n], newBudget())
		if err == nil || !strings.Contains(err.Error(), "was cut") {
			t.Fatalf("the first %d of %d characters: got %v, want a message that the link was cut", n, len(full), err)
		}
	}
	for i := 2; i < len(full); i++ {
		for bit := range 6 {
			const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
			flipped := alphabet[strings.IndexByte(alphabet, full[i])^1<<bit]
			if _, err := decodeBlob(full[:i]+string(flipped)+full[i+1:], newBudget()); err == nil {
				t.Fatalf("character %d, bit %d flipped: accepted", i, bit)
			}
		}
	}
	if _, err := decodeBlob(full+"A", newBudget()); err == nil {
		t.Error("a character too many: accepted")
	}
}

func TestLinkRoundTrip(t *testing.T) {
	for _, want := range []string{
		"v=1&p=resnet101-b32",
		"v=1&p=resnet101-b32&dev=v100-pcie-16gb&m=12GiB&s=sequential&s.segments=4&bw=12.5GBps&duplex=full&xfer=streamed&t=120-480.5&sel=B18&theme=dark",
		"v=1&p=vgg16-b1&m=60%25&bw=12.345678901GBps&bwd=1GBps&title=two%20words&x-later=1%2B1",
		"v=1&p=vgg16-b64&m=123B",
		"v=1&p=vgg16-b64&kind=graph&s=lms&c=all&y=time&t=1-2",
		"v=1&p=vgg16-b64&c=bound,pofo,rotor&y=time",
		"v=1&p=vgg16-b64&c=none",
		"v=1&p=vgg16-b64&alloc=best-fit",
		"v=1&p=vgg16-b64&xfer=streamed&alloc=va&alloc.chunk=2",
		"v=1&p=vgg16-b64&alloc=high-end&alloc.order=prefetch-first",
		"v=1&p=vgg16-b64&m=37.5%25",
	} {
		l, notes := Parse("#" + want)
		if got := l.String(); got != want || len(notes) > 0 {
			t.Errorf("%s: rewritten as %s, notes %q; want the same and none", want, got, notes)
		}
	}
	l := Link{Said: choice.Said{Profile: sample(3), Strategy: "greedy"}}
	back, notes := Parse(l.String())
	if !reflect.DeepEqual(back, l) || len(notes) > 0 {
		t.Errorf("with a profile: got %+v, %q; want %+v", back, notes, l)
	}
}

// TestParseByHand checks that the order and case of keys do not matter, and that a bad value is dropped without
// the others.
func TestParseByHand(t *testing.T) {
	for _, tc := range []struct{ in, want, note string }{
		{"", "v=1", ""},
		{"S=ROTOR&P=resnet50-b8&M=900mib", "v=1&p=resnet50-b8&m=900MiB&s=rotor", ""},
		{"p=resnet50-b8&m=12", "v=1&p=resnet50-b8", "m:"},
		{"p=resnet50-b8&bw=fast", "v=1&p=resnet50-b8", ". It was left out."},
		{"p=resnet50-b8&m=-3GiB&s=greedy", "v=1&p=resnet50-b8&s=greedy", "m:"},
		{"p=resnet50-b8&m=0%", "v=1&p=resnet50-b8", "m:"},
		{"p=resnet50-b8&duplex=both", "v=1&p=resnet50-b8", "expected half or full"},
		{"p=resnet50-b8&t=5-2", "v=1&p=resnet50-b8", "start-end"},
		{"p=resnet50-b8&m=60%&s=rotor", "v=1&p=resnet50-b8&m=60%25&s=rotor", ""},
		{"p=resnet50-b8&title=%zz", "v=1&p=resnet50-b8&title=%25zz", ""},
		{"v=2&p=resnet50-b8&m=1GiB", "v=1", "newer version"},
		{"v=1&m=1GiB", "v=1&m=1GiB", "names no profile"},
		{"d=1.AAAA", "v=1", "was cut"},
		{"d=7.AAAAAAAAAAAAAAAA", "v=1", "starts with"},
		{"d=1.AAAAAAAAAAAAAAAA", "v=1", "damaged"},
		{strings.Repeat("x", maxFragment+1), "v=1", "characters long"},
	} {
		l, notes := Parse(tc.in)
		short := tc.in[:min(60, len(tc.in))]
		if got := l.String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", short, got, tc.want)
		}
		all := strings.Join(notes, "\n")
		if tc.note == "" && all != "" || tc.note != "" && !strings.Contains(all, tc.note) {
			t.Errorf("%s: notes %q, want %q", short, all, tc.note)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("v=1&p=resnet101-b32&m=12GiB&s=rotor")
	f.Add("d=" + encodeBlob(sample(5)))
	f.Fuzz(func(t *testing.T, in string) {
		l, _ := Parse(in)
		once := l.String()
		again, _ := Parse(once)
		if twice := again.String(); twice != once {
			t.Errorf("%q: written as %q, read back and written as %q", in, once, twice)
		}
	})
}

func TestProfileWithoutChain(t *testing.T) {
	l := Link{Said: choice.Said{Profile: &profiles.Profile{Name: "graph"}, Strategy: "rotor"}}
	if got, want := l.String(), "v=1&s=rotor"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkEncodeBlob(b *testing.B) {
	for _, n := range []int{339, 19_999} {
		p := sample(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				encodeBlob(p)
			}
			b.ReportMetric(float64(len(encodeBlob(p))), "chars")
		})
	}
}

// TestGraphFromAFile checks a link to a graph that is too long for a link. It contains the kind of the network,
// so that the note does not say that the link was cut.
func TestGraphFromAFile(t *testing.T) {
	l, notes := Parse("v=1&kind=graph&s=window")
	if l.Kind != "graph" || len(notes) != 1 || !strings.Contains(notes[0], "too long for a link") ||
		strings.Contains(notes[0], "cut") {
		t.Errorf("kind %q, notes %q; want graph, and that it is too long", l.Kind, notes)
	}
	l, notes = Parse("v=1&p=vgg16-b64&kind=tree&y=up")
	if l.Kind != "" || l.Axis != "" || len(notes) != 2 {
		t.Errorf("kind %q, axis %q, notes %q; want both left out, with a note each", l.Kind, l.Axis, notes)
	}
	if l, _ = Parse("v=1&p=vgg16-b64&kind=chain&y=rate"); l.String() != "v=1&p=vgg16-b64" {
		t.Errorf("defaults are written as %s; want them left out", l.String())
	}
}
