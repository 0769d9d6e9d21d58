// Package examine answers requests about recordings of PyTorch's allocator, in programs that import it.
package examine

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// kinds maps categories of package doctor to those of pictures of addresses. A buffer of another category keeps the
// kind that the format has set.
var kinds = map[doctor.Category]sim.Category{
	doctor.Weights: sim.Fixed, doctor.Optimizer: sim.Fixed, doctor.Gradients: sim.Gradient,
	doctor.Activations: sim.Activation, doctor.Temporaries: sim.Workspace,
}

func init() { serve.RegisterExaminer(examiner) }

func examiner(p *profiles.Profile) (serve.Examiner, error) {
	r, err := doctor.Read(p)
	if err != nil {
		return nil, err
	}
	for i := range p.Memory.Requests.Buffers {
		if k, ok := kinds[r.Category(i)]; ok {
			p.Memory.Requests.Buffers[i].Kind = k
		}
	}
	return func(q *proto.Doctor, poll *engine.Poll) (*proto.Examined, error) {
		switch out := new(proto.Examined); {
		case q.Part == proto.PartReport:
			out.Report = r.Report(doctor.Decisive)
			return out, nil
		case q.Part == proto.PartAlive:
			out.Alive = r.Alive(q.At)
			return out, nil
		case q.Part == proto.PartReplay && q.Setting >= 0 && q.Setting < doctor.Settings:
			return replay(r, q.Setting, poll)
		}
		return nil, fmt.Errorf("a recording has no part %q with the setting %d", q.Part, q.Setting)
	}, nil
}

// replay replays a setting. With the last setting it also returns the advice.
func replay(r *doctor.Recording, setting int, poll *engine.Poll) (*proto.Examined, error) {
	v, err := r.Replay(setting, poll)
	if err != nil {
		return nil, err
	}
	out := &proto.Examined{Replay: &v, More: setting+1 < doctor.Settings}
	if !out.More {
		a, err := r.Advise(poll)
		if err != nil {
			return nil, err
		}
		out.Advice = &a
	}
	return out, nil
}
