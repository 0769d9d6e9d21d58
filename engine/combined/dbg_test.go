package combined
import ("testing";"fmt";"time";"os";"runtime"
"memtide/engine")
func TestDbg(t *testing.T) {
	if os.Getenv("DBG")=="" {t.Skip()}
	for _, pc := range []engine.Bytes{40,50,60,70,80} {
		p := benchProblem(t, "lognormal_L50", pc)
		tm := mustTerms(t, p)
		rot, _ := engine.Lookup("rotor").Solve(p, nil, nil)
		lim := int64(rot.Makespan)*tm.q
		r, _ := newRest(tm, lim-tm.base[tm.n], nil)
		for _, w := range widths {
				t1 := time.Now()
				s, err := search(tm, r, lim, w, 0, allTricks, nil)
				if s == nil {fmt.Println(err); break}
				var ms runtime.MemStats
				runtime.ReadMemStats(&ms)
				fmt.Printf("%d%% w %d lim %.5f best %.5f least %.5f kept %d count %d triples %d work %.2g stage %d %v %v sys %d\n", pc, w, float64(lim)/float64(tm.base[tm.n]), float64(s.best)/float64(tm.base[tm.n]), float64(s.least)/float64(tm.base[tm.n]), len(s.kept), s.count, s.f.count, float64(s.work), s.stage[len(s.stage)-1], time.Since(t1), err, ms.HeapSys>>20)
				lim = s.best
		}
	}
}
