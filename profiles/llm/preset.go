package llm

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/preset"
)

func init() { preset.PlaySteps(playPreset) }

// readConfig reads the text of a config.json. Package family sets it.
var readConfig func(text string) (*Model, error)

// ReadConfigs registers the reader of a config.json for package preset.
func ReadConfigs(read func(text string) (*Model, error)) { readConfig = read }

// playPreset plays the step of a preset or of a config.json, as a question of memtide plan.
func playPreset(p preset.StepInput) (*profiles.Profile, error) {
	m := Lookup(p.Model)
	if m == nil && readConfig != nil {
		var err error
		if m, err = readConfig(p.Model); err != nil {
			return nil, err
		}
	}
	if m == nil {
		return nil, fmt.Errorf("there is no model %q", p.Model)
	}
	a, err := New(m, p.Args)
	if err != nil {
		return nil, err
	}
	if p.Precision == "f32" {
		a.Setup.Widen()
	}
	if p.Share > 0 {
		c := *a.Card
		c.Share = float64(p.Share) / 100
		a.Card = &c
	}
	kind := asChain
	if p.Graph || p.Both {
		kind = asGraph
	}
	switch {
	case a.Setup.Checkpoint != CheckpointNone:
		kind = asChain
	case p.Both:
		kind |= asChain
	}
	out, err := a.profile(kind)
	if err != nil {
		return nil, err
	}
	if _, policy, _ := preset.Split(a.Args); policy != nil {
		answer, err := a.Estimate()
		if err != nil {
			return nil, err
		}
		out.Reserved, out.Host = [2]engine.Bytes{answer.Low, answer.High}, answer.Host
	}
	s := &a.Setup
	out.Source = profiles.Source{Tool: "preset", Times: profiles.Estimated, Sizes: profiles.Analytic,
		Device: a.Card.Name, Notes: []string{
			"Sizes: from the operators of a block with what autograd keeps of each, as memtide plan plays them.",
			fmt.Sprintf("Times: products at %.0f %% of the peak of %g TFLOP/s of %s, an estimate.", 100*a.Card.Share,
				a.Card.Peak/1e12, a.Card.Name),
			fmt.Sprintf("Resident: weights, states of the optimizer, and gradients that are there from the beginning; %d parameters.", s.Model.Params()),
		}}
	if s.Shard > 1 {
		out.Source.Notes = append(out.Source.Notes,
			fmt.Sprintf("The numbers are those of one of %d cards that share the states.", a.GPUs))
	}
	for _, notes := range [][]string{a.Card.Says(s), s.Model.Notes, s.Said()} {
		out.Source.Notes = append(out.Source.Notes, notes...)
	}
	return out, nil
}

// Widen makes the step compute in 32 bits, so that the loss reads the logits without a cast.
func (s *Setup) Widen() { s.Compute, s.LogitsHeld = 4, 0 }
