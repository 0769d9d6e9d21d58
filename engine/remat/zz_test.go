package remat
import ("testing";"fmt";"memtide/engine";"memtide/engine/enginetest";"time")
func TestZZ(t *testing.T){
 for _, n := range []int{9,10,11,12} {
  shape := enginetest.Shape{MinStages: n, MaxStages: n, MaxSize: 1 << 20, MaxTime: 1e6}
  fmt.Println(n, bytesOfStates(&engine.Chain{Stages: make([]engine.Stage, n)})>>20, "MiB")
  if bytesOfStates(&engine.Chain{Stages: make([]engine.Stage, n)}) > 1500<<20 {continue}
  for seed := range uint64(3) { c := enginetest.RandomChain(enginetest.Rand(seed), shape)
   for _, pc := range []engine.Bytes{30,50,70} {
   p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/100*pc)
   at := time.Now(); _, err := nonpersistent.Solve(p,nil,nil); fmt.Printf(" %v(%v)", time.Since(at).Round(time.Millisecond), err==nil) } }
  fmt.Println()
 }
}
