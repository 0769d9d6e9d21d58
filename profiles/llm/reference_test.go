package llm

import (
	"strings"
	"testing"

	"memtide/engine"
)

// TestReference checks steps with a reference. It adds its weights, except beside adapters, and the time of a forward,
// and frees all else. DPO's runs beside what the forward has kept. Chain and operations of the step have its peak.
func TestReference(t *testing.T) {
	for _, more := range []engine.Args{{}, {"lora": "8"}, {"gpus": "8"}, {"states": "bf16"}} {
		args := func(objective string) engine.Args {
			out := engine.Args{"objective": objective, "batch": "2", "seq": "1024"}
			for name, value := range more {
				out[name] = value
			}
			return out
		}
		alone := answer(t, asked(args("sft")))
		weights := partOf(alone.Result, Backward, Weights)
		if more["lora"] != "" {
			weights = 0
		}
		for _, objective := range []string{"dpo", "grpo"} {
			a := asked(args(objective))
			got := answer(t, a)
			if n := partOf(got.Result, Backward, Weights) - partOf(alone.Result, Backward, Weights); n != weights {
				t.Errorf("%s %v: %d bytes of weights more, want %d", objective, more, n, weights)
			}
			if got.Phases[Backward] != alone.Phases[Backward]+weights {
				t.Errorf("%s %v: %d bytes in the backward, want %d beside %d of weights", objective, more,
					got.Phases[Backward], alone.Phases[Backward], weights)
			}
			if got.Time <= alone.Time || got.Time >= 2*alone.Time {
				t.Errorf("%s %v: %v a step, want more than %v but not twice that", objective, more, got.Time, alone.Time)
			}
			if least := alone.Phases[LossForward] + weights; objective == "dpo" && got.Phases[LossForward] <= least {
				t.Errorf("%v: %d bytes in the loss, want the reference's beside %d", more, got.Phases[LossForward], least)
			}
			p, err := a.Profile()
			if err != nil {
				t.Fatal(err)
			}
			if peak := p.Chain.KeepAllPeak(); peak != got.Allocated {
				t.Errorf("%s %v: the chain takes %d bytes, want %d", objective, more, peak, got.Allocated)
			}
		}
	}
	_, err := asked(engine.Args{"objective": "dpo", "pp": "2", "gpus": "2", "accumulate": "2"}).Estimate()
	if err == nil || !strings.Contains(err.Error(), "-pp 1") {
		t.Errorf("a pipeline: error %v, want one with -pp 1", err)
	}
}

// TestBeside checks that frozen models beside the trained one are on every card throughout, also where ranks share
// states: 3 GiB of weights, and of the states, in the step and its chain, and none of them in host memory.
func TestBeside(t *testing.T) {
	const n = 3 * engine.GiB
	for _, args := range []engine.Args{{"seq": "512"}, {"seq": "512", "gpus": "8", "lora": "8"}} {
		alone := answer(t, asked(args))
		args["beside"] = "3072"
		a := asked(args)
		got := answer(t, a)
		p, err := a.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if got.Allocated-alone.Allocated != n || got.States-alone.States != n || p.Chain.KeepAllPeak() != got.Allocated ||
			partOf(got.Result, Backward, Weights)-partOf(alone.Result, Backward, Weights) != n || got.Host != alone.Host {
			t.Errorf("%v: %d bytes allocated, %d of states, %d by the chain; alone %d and %d, want %d more", args,
				got.Allocated, got.States, p.Chain.KeepAllPeak(), alone.Allocated, alone.States, n)
		}
		if !strings.Contains(strings.Join(a.Setup.Said(), " "), "3072 MiB of frozen models") {
			t.Errorf("%v: notes %q", args, a.Setup.Said())
		}
	}
}

// TestImbalance checks that rows beyond the share of the busiest rank of experts are kept there, and that reserved memory
// is then between that of equal shares and that of those rows.
func TestImbalance(t *testing.T) {
	of := func(percent string) *Estimate {
		a, err := New(Lookup("qwen3-30b-a3b"), engine.Args{"gpus": "8", "ep": "8", "seq": "2048", "imbalance": percent})
		if err != nil {
			t.Fatal(err)
		}
		return answer(t, a)
	}
	unknown, some, twice := of("0"), of("10"), of("100")
	more := func(e *Estimate) engine.Bytes {
		return partOf(e.Result, LossForward, Saved) - partOf(unknown.Result, LossForward, Saved)
	}
	if more(some) <= 0 || more(twice) < 10*more(some)-16*engine.MiB || more(twice) > 10*more(some)+16*engine.MiB {
		t.Errorf("%d bytes kept for 10 per cent of rows, %d for as many again; want ten times as much", more(some),
			more(twice))
	}
	least, most := min(unknown.Reserved, unknown.Expandable), max(twice.Reserved, twice.Expandable)
	if twice.Low != least || twice.High != most || unknown.Low >= least || twice.Time <= unknown.Time {
		t.Errorf("%d to %d bytes reserved in %v, want %d to %d in more than %v", twice.Low, twice.High, twice.Time, least,
			most, unknown.Time)
	}
}
