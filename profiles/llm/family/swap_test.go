package family_test

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
)

// short returns the question about a network whose rows have the given numbers of blocks.
func short(t *testing.T, name string, args engine.Args, blocks ...int) llm.Ask {
	t.Helper()
	m := *config(t, name)
	rows := []*llm.Block{m.At(0), m.At(m.Layers - 1)}
	m.Pattern = nil
	for i, n := range blocks {
		for range n {
			m.Pattern = append(m.Pattern, rows[i])
		}
	}
	m.Layers = int64(len(m.Pattern))
	a, err := llm.New(&m, args)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func answer(t *testing.T, a llm.Ask) *llm.Estimate {
	t.Helper()
	out, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Each swapped block removes the bytes of its frozen products from the card for the whole step, and adds them to
// host memory. Adapters stay on the card.
func TestSwapMovesWeights(t *testing.T) {
	args := engine.Args{"height": "256", "lora": "8", "ckpt": "full", "base": "fp8"}
	of := func(n string) *llm.Estimate {
		args["swap-blocks"] = n
		return answer(t, short(t, "wan-14b", args, 8))
	}
	const block = 8*(5120*5120+5120) + 2*5120*13824 + 5120 + 13824 // numbers of a block's products, a byte each
	none := of("0")
	args["swap-blocks"] = "4"
	whole := short(t, "wan-14b", args, 40)
	if said := strings.Join(whole.Setup.Said(), " "); !strings.Contains(said, "4 of 40 blocks") ||
		!strings.Contains(said, "28.6 GB there") {
		t.Errorf("4 of 40 blocks in fp8: %q; want so many, and the 28.6 GB of all weights in 16 bits", said)
	}
	for n, text := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
		got := of(text)
		if want := none.Allocated - engine.Bytes(n)*block; got.Allocated != want ||
			got.Host != engine.Bytes(n)*block || got.States != none.States-engine.Bytes(n)*block {
			t.Errorf("%s of 8 blocks: %d allocated, %d on the host, states %d; want %d, %d, %d", text, got.Allocated,
				got.Host, got.States, want, n*block, none.States-engine.Bytes(n)*block)
		}
		if got.Phase != none.Phase || got.Phases[llm.Step] != none.Phases[llm.Step]-engine.Bytes(n)*block {
			t.Errorf("%s of 8 blocks: the peak is in the %s, %d in the optimizer's step; want %s, and as much less as is away", text, got.Phase, got.Phases[llm.Step], none.Phase)
		}
	}
}

// TestSwapOfTwoRows checks that a network with two rows of blocks swaps half the given number of blocks of the
// first row, and twice the rest of the second.
func TestSwapOfTwoRows(t *testing.T) {
	args := engine.Args{"height": "256", "lora": "8", "ckpt": "full", "swap-blocks": "5"}
	a := short(t, "flux1-dev-3layers", args, 8, 16)
	said := strings.Join(a.Setup.Said(), " ")
	if !strings.Contains(said, "2 of 8 and 6 of 16 blocks") {
		t.Errorf("5 blocks of 8 and 16: %q, want 2 of 8 and 6 of 16", said)
	}
	const double, single = 2*(4*3072*3072+2*4*3072*3072) + 2*6*3072*3072,
		4*3072*3072 + 2*4*3072*3072 + 3*3072*3072 - 3072*3072 + 3072*3072
	if host := answer(t, a).Host; host < 2*(2*double+6*single)*99/100 || host > 2*(2*double+6*single)*101/100 {
		t.Errorf("%d bytes on the host, want about %d: 2 and 6 blocks of %d and %d numbers in bf16", host,
			2*(2*double+6*single), double, single)
	}
}

// TestSwapTakesTime checks that the passes of the blocks in between hide a copy. On an infinitely fast link
// swapping takes no time. With one block on the card each pass waits for the next block.
func TestSwapTakesTime(t *testing.T) {
	args := engine.Args{"height": "256", "lora": "8", "ckpt": "full", "device": "rtx-4090"}
	timed := func(n string, link float64) time.Duration {
		args["swap-blocks"] = n
		a := short(t, "wan-14b", args, 8)
		a.Card.Link, a.Card.Back = link, link
		return answer(t, a).Time
	}
	none := timed("0", 1e15)
	if got := timed("7", 1e15); got > none+time.Millisecond {
		t.Errorf("7 blocks on a link without end: %v, want %v", got, none)
	}
	const block = 2 * (8*(5120*5120+5120) + 2*5120*13824 + 5120 + 13824)
	const slow = 1e9
	waits := time.Duration(14 * 2 * block / slow * 1e9) // 7 blocks forward and 7 backward, each out and in
	if got := timed("7", slow); got < none+waits-time.Millisecond || got > none+waits+time.Millisecond {
		t.Errorf("7 of 8 blocks on 1 GB/s: %v, want %v and %v of copies", got, none, waits)
	}
	// 4 blocks forward and 4 backward, one after the other on the link
	copies := time.Duration(8 * 2 * block / slow * 1e9)
	if got := timed("4", slow); got < copies || got > copies+none {
		t.Errorf("4 of 8 blocks on 1 GB/s: %v, want %v of copies and at most %v more", got, copies, none)
	}
	if few, many := timed("1", 1e12), timed("7", 1e12); few != none || many <= few {
		t.Errorf("1 and 7 of 8 blocks on 1 TB/s: %v and %v; want %v, for 6 blocks hide the copy of one, and longer",
			few, many, none)
	}
}

// TestFewestSwapped checks that the smallest number of blocks that fits does fit, and that one fewer does not.
func TestFewestSwapped(t *testing.T) {
	args := engine.Args{"frames": "49", "height": "512", "lora": "32", "ckpt": "full", "base": "fp8",
		"device": "rtx-4090"}
	a, err := llm.New(config(t, "wan-14b"), args)
	if err != nil {
		t.Fatal(err)
	}
	n, err := a.FewestSwapped()
	if err != nil || n == 0 {
		t.Fatalf("%d blocks (%v), want some", n, err)
	}
	for _, c := range []struct {
		n    int64
		fits bool
	}{{n, true}, {n - 1, false}} {
		b := a
		b.Setup.Swap = c.n
		b.Args = engine.Args{"n": ""}
		if got := answer(t, b).Verdict == llm.Fits; got != c.fits {
			t.Errorf("%d blocks fit: %v, want %v, since %d are the fewest", c.n, got, c.fits, n)
		}
	}
}

// A refusal of swapped blocks says what is possible.
func TestSwapRefused(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{engine.Args{"swap-blocks": "4"}, "want -lora"},
		{engine.Args{"swap-blocks": "8", "lora": "8"}, "want -swap-blocks 7"},
		{engine.Args{"swap-blocks": "4", "lora": "8", "gpus": "2"}, "want -shard none"},
		{engine.Args{"swap-blocks": "4", "lora": "8", "ckpt": "full", "group": "2"}, "-group 1"},
	} {
		_, err := short(t, "wan-14b", c.args, 8).Estimate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.args, err, c.want)
		}
	}
}

// TestDoraOfPictures checks what DoRA adds to a block of Flux with adapters on attention: of each adapted product its
// result and the adapters' for each token and output in 2 bytes, and a magnitude, its gradient's factor and a norm for
// each output in 4. The last product of a block of one row is of attention and of the net, and has no adapter there.
func TestDoraOfPictures(t *testing.T) {
	const h, latents, text = 3072, 1024, 512
	blocks := func(dora string) [][2]int64 {
		a, err := llm.New(family.Lookup("flux1-dev"), engine.Args{"lora": "16", "targets": "attention", "height": "512",
			"autocast": "yes", "dora": dora})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := a.Setup.Kept()
		if err != nil {
			t.Fatal(err)
		}
		return kept.Blocks
	}
	plain, dora := blocks("no"), blocks("yes")
	want := []int64{2*4*(latents+text)*h*2 + 8*12*h, 2*3*(latents+text)*h*2 + 3*12*h}
	for i, last := range []int{1, len(plain) - 1} {
		if got := dora[last][1] - plain[last][1]; got != want[i] {
			t.Errorf("block %d keeps %d bytes more with DoRA, want %d", last, got, want[i])
		}
	}
}

// TestPoliciesSwap checks that block swap is among the policies of a video model where nothing else fits the card, with
// the inputs of checkpoints in host memory if every block swapped does not suffice, and that it then fits.
func TestPoliciesSwap(t *testing.T) {
	for frames, want := range map[string]string{"21": "full no", "81": "full yes"} {
		a, err := llm.New(family.Lookup("wan2.1-14b"), engine.Args{"lora": "16", "frames": frames, "height": "480",
			"width": "832", "device": "rtx-4090"})
		if err != nil {
			t.Fatal(err)
		}
		list, err := a.Policies()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			if ask.Value(p.Args, "swap-blocks") == "0" {
				continue
			}
			got = append(got, ask.Value(p.Args, "ckpt")+" "+ask.Value(p.Args, "offload"))
			if p.Estimate.Verdict != llm.Fits {
				t.Errorf("%s frames: %q %s; want that it fits", frames, p.Names, p.Estimate.Verdict)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s frames: checkpoints and inputs in host memory %q, want %q", frames, got, want)
		}
	}
}

// RamTorch's products are in host memory, but for two of the largest in a forward and two in a backward, and each
// keeps what it reads: of a block of Wan without checkpoints what the queries' product of both attentions and both
// products of the net read.
func TestRamTorch(t *testing.T) {
	args := engine.Args{"height": "256", "lora": "8", "targets": "qv", "adapter-dropout": "yes", "ramtorch": "yes"}
	of := func(ramtorch, ckpt string, blocks int) *llm.Estimate {
		args["ramtorch"], args["ckpt"] = ramtorch, ckpt
		return answer(t, short(t, "wan-14b", args, blocks))
	}
	const h, wide, tokens = 5120, 13824, 256
	const block = 2 * (8*(h*h+h) + 2*h*wide + h + wide) // bytes of a block's products
	const place = 2 * (h*wide + wide)
	if got := of("yes", "full", 8).Host; got != 8*block {
		t.Errorf("%d bytes of 8 blocks wait in host memory; want %d", got, 8*block)
	}
	none, ram := of("no", "full", 8), of("yes", "full", 8)
	if got, want := none.States-ram.States, engine.Bytes(8*block-4*place); got != want {
		t.Errorf("the states have %d bytes less on the card; want %d", got, want)
	}
	each := func(ramtorch string) engine.Bytes {
		return of(ramtorch, "none", 9).Allocated - of(ramtorch, "none", 8).Allocated
	}
	if got, want := each("yes")-each("no")+block, engine.Bytes(2*tokens*(3*h+wide)); got != want {
		t.Errorf("a block keeps %d bytes more; want %d, of three norms and of the net", got, want)
	}
	for option, value := range map[string]string{"swap-blocks": "2", "compile": "yes", "base": "nf4", "lora": "0"} {
		bad := engine.Args{"height": "256", "lora": "8", "ramtorch": "yes"}
		bad[option] = value
		a, err := llm.New(config(t, "wan-14b"), bad)
		if err == nil {
			_, err = a.Estimate()
		}
		if err == nil || !strings.Contains(err.Error(), "amtorch") && !strings.Contains(err.Error(), "RamTorch") {
			t.Errorf("-ramtorch with -%s %s: got the error %v, want one that says RamTorch", option, value, err)
		}
	}
}
