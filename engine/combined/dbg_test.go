package combined
import ("testing";"fmt";"time";"os";"runtime";"context"
"memtide/engine"
"memtide/profiles/preset")
func TestDbg(t *testing.T) {
	if os.Getenv("DBG")=="" {t.Skip()}
	names := []string{"resnet_L100","lognormal_L100","resnet_L339"}
	if os.Getenv("DBG") == "p" { names = nil; for _, ps := range preset.All() { names = append(names, ps.ID) } }
	for _, name := range names {
	for _, pc := range []engine.Bytes{20,30,50,80} {
		p := benchProblem(t, name, pc)
		for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
		p.Transfers=mode
		t0 := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		sol, err := engine.Lookup("pofo").Solve(p, nil, engine.NewPoll(ctx, nil))
		cancel()
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		if sol == nil { fmt.Println(name, p.Chain.Chain.Len(), pc, mode, err, time.Since(t0)); continue }
		fmt.Println(name, p.Chain.Chain.Len(), pc, mode, float64(sol.Makespan)/float64(p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime()), "gap%", 100*float64(sol.Makespan-sol.Bound)/float64(sol.Makespan), err, time.Since(t0), ms.HeapSys>>20, len(sol.Notes))
		}
	}
	}
}
