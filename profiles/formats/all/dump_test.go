package all

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/profiles"
)

// dump returns p as lines of text that contain every number of it.
func dump(p *profiles.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q format %s, batch %d, dtype %q\nsource %q, times %q, sizes %q, device %q, url %q\n", p.Name,
		p.Format, p.Batch, p.DType,
		p.Source.Tool, p.Source.Times, p.Source.Sizes, p.Source.Device, p.Source.URL)
	for _, n := range p.Source.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	if p.Device != nil {
		fmt.Fprintf(&b, "device %+v\n", *p.Device)
	}
	fmt.Fprintf(&b, "totals %+v\n", p.Totals())
	if c := p.Chain; c != nil {
		fmt.Fprintf(&b, "chain %q, batch %d, input %d, input gradient %d, resident %+v, seed born %v\n", c.Name,
			c.Batch,
			c.Input, c.InputGrad, c.Resident, c.LossGradAllocated)
		for i, s := range c.Stages {
			fmt.Fprintf(&b, "%3d %-30s %-5s F %d B %d ns, a %d abar %d delta %d oF %d oB %d\n", i+1,
				fmt.Sprintf("%q", s.Name), s.Kind,
				s.Forward, s.Back, s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp)
			if f := s.Fast; f != nil {
				fmt.Fprintf(&b, "    or F %d B %d ns, oF %d oB %d\n", f.Forward, f.Back, f.FwdTemp, f.BwdTemp)
			}
		}
	}
	if p.Graph != nil {
		dumpGraph(&b, p.Graph)
	}
	if p.Memory != nil {
		dumpMemory(&b, p.Memory)
	}
	return b.String()
}

func dumpMemory(b *strings.Builder, m *profiles.Memory) {
	fmt.Fprintf(b, "capacity %d, before %d\n", m.Capacity, m.Before)
	for i, v := range m.Requests.Buffers {
		fmt.Fprintf(b, "buffer %d %+v\n", i, v)
	}
	fmt.Fprintf(b, "events %v\nsegments %v\n", m.Requests.Events, m.Segments)
	if l := m.Recorded; l != nil {
		fmt.Fprintf(b, "addresses %v\ntaken %v\npool %d, reserved %v, bound %d, failed %+v\n", l.Addr, l.Took, l.Pool,
			l.Reserved, l.Bound, l.Failed)
	}
}

// dumpGraph uses the field names of the golden files, which do not change when fields are renamed.
func dumpGraph(b *strings.Builder, g *engine.Graph) {
	fmt.Fprintf(b, "graph fixed %d, done %d, stages %d\n", g.Fixed, g.Done, g.Stages)
	for i, v := range g.Values {
		fmt.Fprintf(b, "value %d {Name:%s Kind:%v Size:%v Stage:%v Initial:%v Within:%v}\n", i, v.Name, v.Kind, v.Size,
			v.Stage, v.Initial, v.PartOf)
	}
	for i, op := range g.Ops {
		fmt.Fprintf(b, "op %d {Name:%s Pass:%v Stage:%v Time:%v Temp:%v In:%v Out:%v Lean:%v Alt:%v}\n",
			i, op.Name, op.Pass, op.Stage, op.Time, op.Temp, op.In, op.Out, op.OutputOnly, op.Alt)
	}
}
