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
	"memtide/engine/sim"
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
		if w := os.Getenv("PC"); w != "" && w != fmt.Sprint(pc) {
			continue
		}
		rot, err := engine.Lookup("rotor").Solve(p, nil, nil)
		if err != nil {
			fmt.Println(pc, err)
			continue
		}
		t0 := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		if os.Getenv("V") != "" {
			poll := engine.NewPoll(ctx, nil)
			r, _ := newRest(tm, int64(rot.Makespan)*tm.q-tm.base[tm.n], poll)
			lim := int64(rot.Makespan) * tm.q
			fmt.Println("rest", time.Since(t0))
			for x, w := range widths {
				t1 := time.Now()
				thin := 0
				if x == 0 {
					thin = thinned
				}
				s, err := search(tm, r, lim, w, thin, allTricks, poll)
				if s == nil {
					fmt.Println(err)
					break
				}
				fmt.Printf("%d%% w %d base %.5f best %.5f least %.5f kept %d count %d triples %d %v %v\n", pc, w, float64(lim)/float64(tm.base[tm.n]), float64(s.best)/float64(tm.base[tm.n]), float64(s.least)/float64(tm.base[tm.n]), len(s.kept), s.count, s.f.count, time.Since(t1), err)
				per := make([]int, tm.n+1)
				for _, k := range s.stage {
					per[k]++
				}
				fmt.Println(per)
				if w == 3000 {
					for i := 28; i <= 36; i++ {
						best := -1
						for id := range s.kept {
							if int(s.stage[id]) == i && (best < 0 || s.kept[id].least < s.kept[best].least) {
								best = id
							}
						}
						if best < 0 {
							continue
						}
						l := s.kept[best]
						b := float64(tm.base[tm.n])
						l2 := l
						fmt.Printf("stage %d least %.5f cost-over-base %.5f held %.0f Z %.0f out %.0fMB in %.0fMB saved %v recomputed %.5f\n", i, float64(l.least)/b, float64(l.cost-tm.base[i-1])/b, float64(l.held)/1e6, float64(s.input(i, l.saved))/1e6, float64(l.out)/float64(tm.out)/1e6, float64(l.in)/float64(tm.in)/1e6, l.saved, float64(r.least(i, &l2, unreachable))/b)
						_ = l2
					}
				}
				lim = s.best
				if err != nil {
					break
				}
			}
			cancel()
			continue
		}
		for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
			p.Transfers = mode
			sol, err := engine.Lookup("pofo").Solve(p, nil, engine.NewPoll(ctx, nil))
			fmt.Println(pc, mode, "rotor", float64(rot.Makespan)/float64(c.ForwardTime()+c.BackTime()), "pofo", float64(sol.Makespan)/float64(c.ForwardTime()+c.BackTime()), sol.Optimal, sol.Makespan-sol.Bound, sol.Notes, err, time.Since(t0))
			tr, err := sim.Play(p, sol.Schedule)
			if err != nil || tr.Makespan != sol.Makespan || tr.Peak != sol.Peak {
				fmt.Println("BAD", err)
			}
		}
		cancel()

	}
}
