package offload
import ("testing";"fmt";"syscall";"memtide/engine";"memtide/engine/bound")
func cpu() float64 { var r syscall.Rusage; syscall.Getrusage(syscall.RUSAGE_SELF,&r); return float64(r.Utime.Sec)+float64(r.Utime.Usec)/1e6 }
func TestScratch(t *testing.T) {
 for _, c := range []struct{n string; p engine.Bytes}{{"resnet_L20",50},{"resnet_L50",30},{"resnet_L50",50},{"lognormal_L50",30},{"lognormal_L50",70},{"resnet_L100",30},{"lognormal_L100",30}} {
  for _, ev := range []int{50000,100000,200000} {
   p := sharedProblem(t,c.n,c.p)
   relax,_ := bound.Relax(p)
   out := ""
   for seed := range 4 {
    a:=cpu()
    sol,_ := offloadSearch.Solve(p, engine.Args{"evaluations":fmt.Sprint(ev),"seed":fmt.Sprint(seed)}, nil)
    out += fmt.Sprintf(" %.4f(%.0fms %v)", 100*(float64(sol.Makespan)/float64(relax)-1), 1000*(cpu()-a), sol.Optimal)
   }
   t.Logf("%s %d ev %d: %s", c.n,c.p,ev,out)
  }
 }
}
func TestScratchDyn(t *testing.T) {
 for _, c := range sharedChains {
  for _, pc := range []engine.Bytes{25,30,50,70,75,90} {
   p := sharedProblem(t,c,pc)
   if p==nil {continue}
   a:=cpu()
   o,_ := BestFluid(p,nil)
   t.Logf("%s %d: %v proven %v ties %v gap %v %.0f ms", c,pc,o.Time,o.Proven(),o.Ties,o.Time-o.Bound,1000*(cpu()-a))
  }
 }
}
