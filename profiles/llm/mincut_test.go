package llm

import "testing"

// TestFusedBlocks checks that a block that the compiler fuses has the gradients of all its weights and gives
// everything back, whatever its norms, its net and what is computed again.
func TestFusedBlocks(t *testing.T) {
	gated := Block{Heads: 4, Keys: 2, Head: 16, Wide: 128, Gated: true}
	for name, change := range map[string]func(*Block){
		"llama":   func(*Block) {},
		"gemma 2": func(k *Block) { k.Form, k.Around = FormPlus, AroundBoth },
		"olmo 2":  func(k *Block) { k.Form, k.Around, k.QKNorm, k.WholeQK = FormWide, AroundBehind, true, true },
		"phi":     func(k *Block) { k.Joined, k.GateUp, k.Parallel, k.OneNorm = true, true, true, true },
		"xielu":   func(k *Block) { k.Gated, k.Act = false, ActXIELU },
		"bert":    func(k *Block) { k.Layer, k.Gated, k.Around, k.Dropout = true, false, AroundSum, true },
		"experts": func(k *Block) { k.MoE = &MoE{Experts: 8, TopK: 2, Wide: 64, Shared: 32, Gate: true, Clamped: true} },
	} {
		for _, mode := range checkpointKinds {
			for _, lora := range []*LoRA{nil, {Rank: 4, On: []string{"q", "v", "down"}}} {
				k := gated
				change(&k)
				s := normal(t, Setup{Model: &Model{Name: name, Layers: 2, Hidden: 64, Words: 512, Block: k},
					Work: Work{Seq: 128}, LoRA: lora, Code: Code{Compiled: true, Written: true, Norm: NormEager},
					Checkpointing: Checkpointing{Checkpoint: mode, Budget: 50, Recompute: []string{"layernorm"}}})
				want := 0
				plain := s
				plain.Compiled = false
				for _, o := range newBlock(&plain, 1, true, nil).ops {
					for _, w := range o.weights {
						if w.trained {
							want++
						}
					}
				}
				b := newPlayed(newBlock(&s, 1, true, nil), &s, mode, false)
				l, got := &ledger{}, 0
				x := l.take(b.values[0].bytes, Saved)
				y, kept := b.forward(l, x)
				g := b.backward(l, x, y, kept, func(weight) { got++ })
				l.give(x)
				if l.live != b.values[0].grad || got != want {
					t.Errorf("%s, %s, adapters %v: %d bytes are left and %d gradients made, want %d and %d", name, mode,
						lora != nil, l.live, got, b.values[0].grad, want)
				}
				l.give(g)
			}
		}
	}
}

// TestSmallestCut cuts a tape by hand: a product's result y of 8 bytes, its square of 8, and the sum of its rows of 1.
// The backward of the square reads y, that of what follows the square itself, which is computed again from y. The sum
// is never computed again.
func TestSmallestCut(t *testing.T) {
	tp := newTape(8, true)
	y := tp.add(op{kind: opProduct, in: []valueID{blockInput}, keeps: []valueID{blockInput}}, "y", 8)
	square := tp.add(op{in: []valueID{y}, keeps: []valueID{y}}, "square", 8)
	rows := tp.add(op{in: []valueID{square}, keeps: []valueID{square}}, "rows", 1)
	tp.output = tp.add(op{in: []valueID{square, rows}, keeps: []valueID{square, rows}}, "scaled", 8)
	saved := newCut(tp).saved()
	for v, want := range map[valueID]bool{blockInput: true, y: true, square: false, rows: true, tp.output: false} {
		if saved[v] != want {
			t.Errorf("%s: saved %v, want %v", tp.values[v].name, saved[v], want)
		}
	}
	if tp.fuse(); len(tp.ops) != 2 || len(tp.ops[1].out) != 2 {
		t.Errorf("%d operators, the last with %d results; want the product, and one with the sum and the output",
			len(tp.ops), len(tp.ops[len(tp.ops)-1].out))
	}
}
