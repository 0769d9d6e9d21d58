package serve_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step"
)

// stepped returns the answer about a step and the answers before it, encoded and decoded as on the way to the
// page.
func stepped(t *testing.T, q *proto.Step) (last *proto.Stepped, before []*proto.Stepped, fail *proto.Failure) {
	t.Helper()
	again := func(r *proto.Reply) *proto.Reply {
		text, err := proto.EncodeReply(r)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = proto.DecodeReply(q, text); err != nil {
			t.Fatal(err)
		}
		return r
	}
	end := again(proto.Ended(new(serve.Server).Handle(context.Background(), q, func(p any) {
		before = append(before, again(&proto.Reply{Value: p}).Value.(*proto.Stepped))
	})))
	last, _ = end.Value.(*proto.Stepped)
	return last, before, end.Failure
}

// TestStep checks that an answer comes in stages, and that every byte of it belongs to a part with an origin.
func TestStep(t *testing.T) {
	got, before, fail := stepped(t, &proto.Step{Model: "llama3.2-1b",
		Args: engine.Args{"seq": "1024", "device": "v100-pcie-16gb"}})
	if fail != nil {
		t.Fatal(fail)
	}
	if got.Fit != proto.FitsNot || got.States+got.Context <= got.Memory || len(got.Fixes) == 0 || got.Fewest < 2 {
		t.Errorf("%s, states of %d bytes in %d, %d fixes, %d cards; want that the states alone do not fit one",
			got.Fit, got.States, got.Memory, len(got.Fixes), got.Fewest)
	}
	if len(before) != got.Total-1 || got.Done != got.Total || before[0].Done != 1 || len(before[0].Changes) != 0 ||
		len(before[0].Phases) == 0 {
		t.Errorf("%d answers before the one of stage %d of %d; want one for each stage but the last, the first without changes", len(before), got.Done, got.Total)
	}
	for i, p := range got.Phases {
		sum := engine.Bytes(0)
		for _, part := range p.Parts {
			sum += part.Bytes
			if part.Origin == "" || part.Why == "" || part.Kind == "" {
				t.Errorf("%s, %s: kind %q, origin %q, %q; want all", p.Name, part.Name, part.Kind, part.Origin,
					part.Why)
			}
		}
		if sum != p.Bytes || i == got.Phase && p.Bytes != got.Allocated {
			t.Errorf("%s: parts of %d bytes, %d in all, %d at the peak; want equal ones", p.Name, sum, p.Bytes,
				got.Allocated)
		}
	}
}

// TestStepOfConfig checks that a config.json gets the same answer as the known model that it describes, and that
// its step becomes a profile that can be opened.
func TestStepOfConfig(t *testing.T) {
	const config = `{"model_type":"llama","hidden_size":2048,"intermediate_size":8192,"num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"vocab_size":128256,"tie_word_embeddings":true,"torch_dtype":"bfloat16"}`
	args := engine.Args{"seq": "1024"}
	want, _, fail := stepped(t, &proto.Step{Model: "llama3.2-1b", Args: args})
	if fail != nil {
		t.Fatal(fail)
	}
	got, _, fail := stepped(t, &proto.Step{Model: config, Args: args})
	if fail != nil || got.High != want.High || got.Config == "" || strings.Contains(got.Config, "torch_dtype") {
		t.Errorf("%+v (%v); want %d bytes as of the known model, and what was understood", got, fail, want.High)
	}
	for model, least := range map[string]int{got.Config: 16, "llama3.2-1b": 16, "flux1-dev": 50} {
		opened, err := proto.Do(t.Context(), new(serve.Local).Do,
			&proto.Open{File: "config.json", Model: model, Options: engine.Args{"device": "rtx-4090"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := opened.Decoded; p.Chain == nil || len(p.Chain.Stages) < least || p.Name != "config" ||
			p.Source.Device != "RTX 4090" || p.Format != "hfconfig" || opened.Step["device"] != "rtx-4090" {
			t.Errorf("%s opens as %+v with %v; want a chain of %d blocks and more with times of the card", model, p,
				opened.Step, least)
		}
	}
}

// TestOneStep checks that the answer about a step and the schedule that it leads to describe the same step. They
// have the same number of parameters, and the operations that keep everything need exactly the bytes that the
// answer says are allocated. With MEMTIDE_LONG=1 the test covers all known models.
func TestOneStep(t *testing.T) {
	for _, m := range ask.Models {
		if os.Getenv("MEMTIDE_LONG") == "" && !m.Usual {
			continue
		}
		for _, args := range []engine.Args{{"seq": "512"}, {"seq": "512", "gpus": "8"},
			{"seq": "512", "lora": "16"}} {
			said, _, fail := stepped(t, &proto.Step{Model: m.ID, Args: args, Parts: 1})
			if fail != nil {
				t.Fatalf("%s %v: %v", m.ID, args, fail)
			}
			if want := llm.Lookup(m.ID).Params(); said.Params != want {
				t.Errorf("%s: %d parameters; want %d", m.ID, said.Params, want)
			}
			opened, err := proto.Do(t.Context(), new(serve.Local).Do, &proto.Open{Model: m.ID, Options: args}, nil)
			if err != nil {
				t.Fatalf("%s %v: %v", m.ID, args, err)
			}
			pinned := opened.Decoded.Chain.Resident.Pinned
			if got := opened.Totals.States; got < said.States || got > said.States+pinned {
				t.Errorf("%s %v: the chain's states take %d bytes; %d are said, and %d more are pinned", m.ID, args, got,
					said.States, pinned)
			}
			p, link := opened.Decoded, engine.Device{ToHost: engine.MaxRate, ToDev: engine.MaxRate}
			sol, err := engine.Lookup(engine.KeepAll).Solve(&engine.Problem{Graph: p.Graph, Device: link,
				Budget: engine.NoLimit}, nil, nil)
			if err != nil || sol.Peak != said.Allocated {
				t.Errorf("%s %v: operations that keep everything take %d bytes (%v); %d are said to be allocated",
					m.ID, args, sol.Peak, err, said.Allocated)
			}
			if got := p.Chain.KeepAllPeak(); got < said.Allocated || got > said.Allocated+said.Allocated/100 {
				t.Errorf("%s %v: the chain that keeps everything takes %d bytes; %d are said to be allocated, and 1 %% more is allowed", m.ID, args, got, said.Allocated)
			}
		}
	}
}

// TestStepRefused checks that a request that cannot be answered fails and names what is wrong.
func TestStepRefused(t *testing.T) {
	for _, c := range []struct {
		q    proto.Step
		want string
	}{
		{proto.Step{Model: "gpt9"}, "gpt9"},
		{proto.Step{Model: "gpt2", Args: engine.Args{"loss": "magic"}}, "magic"},
		{proto.Step{Model: "gpt2", Args: engine.Args{"gpus": "3", "tp": "2"}}, "cards is 3,"},
		{proto.Step{Model: `{"model_type": "bart"}`}, "bart"},
		{proto.Step{Model: `{"model_type"`}, "config"},
		{proto.Step{Model: `{"model_type":"llama","hidden_size":4096,"num_hidden_layers":100000,"num_attention_heads":32,"vocab_size":128256}`}, "num_hidden_layers is 100000"},
		{proto.Step{Model: "llama3-8b", Args: engine.Args{"gpus": "32", "pp": "32", "accumulate": "2000",
			"schedule": "dualpipe"}}, "lower accumulate to 1024"},
	} {
		if _, _, fail := stepped(t, &c.q); fail == nil || !strings.Contains(fail.Text, c.want) {
			t.Errorf("%+v: %v; want a failure that names %q", c.q, fail, c.want)
		}
	}
}

// TestStepLimit checks that a brief answer is the first stage alone, and that a request that is stopped fails
// with a deadline after the stages that were complete by then.
func TestStepLimit(t *testing.T) {
	q := &proto.Step{Model: "gpt2", Args: engine.Args{"seq": "1024"}, Parts: 1}
	if got, before, fail := stepped(t, q); fail != nil || got.Done != 1 || got.Total < 2 || got.Fit == "" ||
		len(before) != 0 {
		t.Errorf("%+v after %d, %v; want the verdict alone", got, len(before), fail)
	}
	whole := *q
	whole.Parts = 0
	for _, c := range []struct {
		q      *proto.Step
		calls  int
		before bool
	}{{q, 10, false}, {&whole, 10, false}, {&whole, 20000, true}} {
		told := 0
		_, err := new(serve.Server).Handle(engine.LimitCalls(t.Context(), c.calls), c.q, func(any) { told++ })
		fail, ok := errors.AsType[*proto.Failure](err)
		if !ok || fail.Kind != proto.Deadline || (told > 0) != c.before {
			t.Errorf("stopped after %d calls, parts %d: %v after %d parts; want a failure of kind %s, parts before: %v", c.calls, c.q.Parts, err, told, proto.Deadline, c.before)
		}
	}
	if _, _, fail := stepped(t, &proto.Step{Model: "gpt2", Limit: 1}); fail == nil || fail.Kind != proto.Deadline {
		t.Errorf("a limit of a nanosecond: %v; want a failure of kind %s", fail, proto.Deadline)
	}
}

// TestStepNotes checks that the notes give the number of tokens of a video and say what waits in host memory.
func TestStepNotes(t *testing.T) {
	const wan = `{"_class_name": "WanTransformer3DModel", "num_layers": 4, "num_attention_heads": 12, "attention_head_dim": 128, "ffn_dim": 8960, "in_channels": 16, "text_dim": 4096, "patch_size": [1, 2, 2]}`
	said, _, fail := stepped(t, &proto.Step{Model: wan,
		Args:  engine.Args{"frames": "17", "height": "480", "width": "832", "lora": "8", "swap-blocks": "2"},
		Parts: 1})
	if fail != nil {
		t.Fatal(fail)
	}
	notes := strings.Join(said.Notes, " ")
	for _, want := range []string{"17 frames of 480 x 832 are 7800 tokens.", "wait in host memory."} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes are %q; want %q in them", notes, want)
		}
	}
}
