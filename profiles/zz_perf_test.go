package profiles
import ("testing";"time";"fmt";"strings";"os")
func TestPerf(t *testing.T) {
	if os.Getenv("PERF")=="" { t.Skip() }
	run := func(n, s string) { t0:=time.Now(); p,err:=Decode("x",[]byte(s),nil); e:=""; if err!=nil {e=err.Error(); if len(e)>120 {e=e[:120]}}; _ = p; fmt.Println(n, len(s)>>10,"KiB", time.Since(t0), e) }
	run("csv long line", "forward_s,"+strings.Repeat("x,", 10<<20))
	run("csv repeated col", strings.Repeat("forward_s,", 2<<20)+"\n")
	run("csv digits", csvHead+"a,"+strings.Repeat("1", 50<<20)+",1,1\n")
	run("csv rows", csvHead+strings.Repeat("\n", 50<<20))
	run("csv blank rows", csvHead+strings.Repeat(",,,\n", 10<<20))
	run("csv bad", csvHead+strings.Repeat("a,x,y,z\n", 5<<20))
	run("notes", strings.Repeat("# a: b\n", 7000)+csvHead+"a,1,1,1\n")
	run("rotor many", "[("+strings.Repeat("1,", 20<<20))
	run("rotor close", "[(1)"+strings.Repeat("()", 20<<20))
	run("json nested", `{"format":"memtide/1","stages":`+strings.Repeat("[", 20<<20))
	run("json big", `{"format":"memtide/1","x":[`+strings.Repeat("1,", 15<<20)+`1],"stages":[]}`)
	var b strings.Builder
	for i := range 2000000 { fmt.Fprintf(&b, `"k%d":1,`, i) }
	run("json keys", `{"format":"memtide/1",`+b.String()+`"stages":[]}`)
	run("json stage keys", `{"format":"memtide/1","stages":[{`+b.String()+`"forward_s":1}]}`)
	run("json source keys", `{"format":"memtide/1","source":{`+b.String()+`"forward_s":1},"stages":[]}`)
	b.Reset()
	for i := range 20000 { fmt.Fprintf(&b, "node%d -- Input -- forward_compute_time=0, backward_compute_time=0, activation_size=4, parameter_size=0\n", i) }
	run("pd inputs", b.String())
	for i := range 160000-1 { fmt.Fprintf(&b, "node%d -- node%d\n", i%15000, 15000+i/32) }
	run("pd edges", b.String())
	b.Reset()
	for i := range 20000 { fmt.Fprintf(&b, "node%d -- ReLU -- forward_compute_time=1, backward_compute_time=1, activation_size=4, parameter_size=0\n", i) }
	for i := range 150000 { a,c := (i*7919)%19999, 0; c = a+1+(i%50); if c<20000 {fmt.Fprintf(&b, "node%d -- node%d\n", a, c) }}
	run("pd dense", b.String())
}
