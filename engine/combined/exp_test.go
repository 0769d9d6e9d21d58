package combined

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/profiles/preset"
)

var _ = remat.Replay

func dataChain(name string) (*engine.Chain, error) {
	data, err := os.ReadFile("../../../shared/data/chains/" + name + ".json")
	if err != nil {
		return nil, err
	}
	var f struct {
		UF, UB            []int64
		Wa, Wabar, Wdelta []engine.Bytes
		Of, Ob            []engine.Bytes
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	c := &engine.Chain{Name: name, Input: f.Wa[0], InputGrad: f.Wdelta[0]}
	for k := range f.UF {
		st := engine.Stage{
			Forward: time.Duration(f.UF[k]) * time.Microsecond, Back: time.Duration(f.UB[k]) * time.Microsecond,
			Saved: f.Wabar[k], Grad: f.Wdelta[k+1], FwdTemp: f.Of[k], BwdTemp: f.Ob[k],
		}
		if k+1 < len(f.Wa) {
			st.Out = f.Wa[k+1]
		}
		c.Stages = append(c.Stages, st)
	}
	return c, c.Validate()
}

func expChain(name string) (*engine.Chain, engine.Device) {
	for _, ps := range preset.All() {
		if ps.ID == name {
			p, err := ps.Profile(ps.DefaultBatch)
			if err != nil {
				panic(err)
			}
			return p.Chain, *p.Device
		}
	}
	c, err := dataChain(name)
	if err != nil {
		panic(err)
	}
	return c, engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}
}

func TestExp(t *testing.T) {
	names := os.Getenv("EXP")
	if names == "" {
		t.Skip()
	}
	c, d := expChain(names)
	fmt.Println(c.Len(), c.StoreAllPeak(), c.Resident.Total(), c.ForwardTime(), c.BackTime())
	for _, pc := range []engine.Bytes{30, 40, 50, 60, 70, 80} {
		p := engine.NewChainProblem(c, d, engine.Streamed, (c.StoreAllPeak()-c.Resident.Total())*pc/100+c.Resident.Total())
		tm, err := newTerms(p)
		if err != nil {
			t.Fatal(err)
		}
		rot, err := engine.Lookup("rotor").Solve(p, nil, nil)
		if err != nil {
			fmt.Println(pc, err)
			continue
		}
		ub := int64(rot.Makespan)*tm.q + 1
		for _, width := range []int{30, 300, 3000, 0} {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			poll := engine.NewPoll(ctx, nil)
			t0 := time.Now()
			f := &fronts{terms: tm, limit: make([]int64, (tm.n+1)*(tm.n+1)), poll: poll, use: tricks{volume: true}}
			for i := 1; i <= tm.n; i++ {
				for j := i; j <= tm.n; j++ {
					f.limit[i*(tm.n+1)+j] = ub - tm.base[tm.n] + tm.base[j] - tm.base[i-1] - (tm.until[j] - tm.until[i-1])
				}
			}
			if err := f.fill(); err != nil {
				fmt.Println(pc, "fronts", err, f.count, f.cands)
				cancel()
				break
			}
			tf := time.Since(t0)
			s := newSweep(f, ub, poll)
			s.width = width
			err = s.run()
			l0 := label{}
			fmt.Printf("%d%% width %d exact %v q %d out %d rotor %.4f pofo %.5f LB %.5f of base; fronts %d cands %d %v labels %d dropped %d total %v %v\n", pc, width, tm.exact, tm.q, tm.out, float64(rot.Makespan)*float64(tm.q)/float64(tm.base[tm.n]), float64(s.best)/float64(tm.base[tm.n]), float64(s.rest.least(1, &l0, unreachable))/float64(tm.base[tm.n]), f.count, f.cands, tf, len(s.kept), s.dropped, time.Since(t0), err)
			cancel()
			ub = s.best + 1
		}
	}
}
