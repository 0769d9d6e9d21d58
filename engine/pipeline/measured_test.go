package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine/pipeline"
)

// TestCritical checks that the critical path of a step without waits for room is as long as the step, for every
// rule for messages: each of its passes starts when the one before it, or its message, ends.
func TestCritical(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for i := range orders() / 3 {
		p := randomProblem(r)
		p.Messages = pipeline.Messages(i % 4)
		trace, err := p.Play(randomOrder(r, p, true, false))
		if err != nil {
			continue
		}
		path := p.Critical(trace)
		s := trace.Shares(path)
		var kinds time.Duration
		for _, d := range s.Kind {
			kinds += d
		}
		if s.Idle != 0 || s.Compute()+s.Message != trace.Makespan || kinds != s.Compute() {
			t.Fatalf("case %d, messages %d: %v of passes (%v by kind), %v of messages and %v of nothing on a path %+v; want %v and no idle time", i, p.Messages, s.Compute(), kinds, s.Message, s.Idle, path, trace.Makespan)
		}
	}
}

// TestCriticalPath checks the path of two ranks and two micro batches: F0 and F1 of rank 0, then rank 1 from the
// message on, and back.
func TestCriticalPath(t *testing.T) {
	s, err := pipeline.New("gpipe", pipeline.Request{Ranks: 2, Micro: 2, Send: 3, Cost: costs(10, 10, 10)})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Play()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, at := range s.Problem.Critical(trace) {
		x := trace.Ranks[at.Rank][at.Place]
		got = append(got, fmt.Sprintf("%d%s%d+%d", x.Stage, x.Kind.Letter(), x.Micro, at.Message))
	}
	if want := []string{"0F0+0", "1F0+3", "1F1+0", "1A0+0", "0A0+3", "0A1+0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the critical path is %v; want %v", got, want)
	}
}

// TestMeasuredRoundTrip writes a step as a trace for Chrome and as CSV, followed by a second step, and reads both:
// the first step is unchanged, and the second one is left out.
func TestMeasuredRoundTrip(t *testing.T) {
	for _, name := range []string{"1f1b", "zb-v", "dualpipev", "interleaved"} {
		s, err := pipeline.New(name, pipeline.Request{Ranks: 4, Micro: 8, Send: 7 * time.Microsecond,
			Cost: costs(11000, 23001, 12000)})
		if err != nil {
			t.Fatal(err)
		}
		trace, err := s.Play()
		if err != nil {
			t.Fatal(err)
		}
		table := "Pass, Rank, End, Start\n"
		for step := range 2 {
			for r, spans := range trace.Ranks {
				for _, x := range spans {
					letter := map[pipeline.Kind]string{pipeline.Forward: "F", pipeline.Backward: "B",
						pipeline.Inputs: "I", pipeline.Weights: "W"}[x.Kind]
					shift := time.Second + time.Duration(step)*trace.Makespan
					table += fmt.Sprintf("%d%s%d, %d, %v, %v\n", x.Stage, letter, x.Micro, r, x.End+shift,
						x.Start+shift)
				}
			}
		}
		ranks := pipeline.Layout(name, 4, 2)
		for i, text := range []string{string(trace.ChromeTrace()), table} {
			m, err := pipeline.ReadMeasured([]byte(text))
			if err != nil {
				t.Fatalf("%s, file %d: %v", name, i, err)
			}
			all := 0
			for _, spans := range trace.Ranks {
				all += len(spans)
			}
			if len(trace.Slower(m.Trace)) != all || len(trace.Turns(m.Trace)) > 0 {
				t.Errorf("%s, file %d: %d passes in common, order differs at %+v; want %d and nowhere", name, i,
					len(trace.Slower(m.Trace)), trace.Turns(m.Trace), all)
			}
			if !reflect.DeepEqual(m.Rank, ranks) || m.Micro != 8 || m.Trace.Makespan != trace.Makespan ||
				!reflect.DeepEqual(m.Trace.Busy, trace.Busy) || m.Later != i*all {
				t.Errorf("%s, file %d: stages on %v, %d micro batches in %v, busy %v, %d later; want %v, 8 in %v, %v",
					name, i, m.Rank, m.Micro, m.Trace.Makespan, m.Trace.Busy, m.Later, ranks, trace.Makespan,
					trace.Busy)
			}
		}
	}
}

// TestMeasuredByPyTorch reads files of PyTorch's profiler, one per rank: the rank is that of distributedInfo,
// events of the device count, and overlapping events of one pass are one. Their times are far from 0, with parts of
// a microsecond.
func TestMeasuredByPyTorch(t *testing.T) {
	event := func(name, cat string, ts string, dur float64) string {
		return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": "Spans", "tid": 7, "ts": %s, "dur": %g, "args": {"External id": 5}}`, cat, name, ts, dur)
	}
	file := func(rank int, events ...string) []byte {
		return fmt.Appendf(nil, `{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": %d}, "traceEvents": [%s, {"ph": "i", "name": "Record Window End", "pid": ""}]}`, rank, strings.Join(events, ","))
	}
	m, err := pipeline.ReadMeasured(
		file(1, event("PP:1RECV_F0", "user_annotation", "1700000000000020", 3),
			event("PP:1F0", "user_annotation", "1700000000000030.5", 10),
			event("PP:1B0", "user_annotation", "1700000000000050", 20)),
		file(0, event("PP:0F0", "user_annotation", "1700000000000001", 2),
			event("PP:0F0", "gpu_user_annotation", "1700000000000010.250", 10),
			event("PP:0F0", "gpu_user_annotation", "1700000000000012.250", 13),
			event("ProfilerStep#3", "user_annotation", "1700000000000001", 200),
			event("PP:0B0", "gpu_user_annotation", "1700000000000080", 20)))
	if err != nil {
		t.Fatal(err)
	}
	us := func(x float64) time.Duration { return time.Duration(x * 1000) }
	span := func(k pipeline.Kind, stage int, from, to float64) pipeline.Span {
		return pipeline.Span{Pass: pipeline.Pass{Kind: k, Stage: stage}, Start: us(from), End: us(to)}
	}
	want := [][]pipeline.Span{{span(pipeline.Forward, 0, 0, 15), span(pipeline.Backward, 0, 69.75, 89.75)},
		{span(pipeline.Forward, 1, 20.25, 30.25), span(pipeline.Backward, 1, 39.75, 59.75)}}
	if !reflect.DeepEqual(m.Trace.Ranks, want) || m.Ignored["RECV_F"] != 0 {
		t.Errorf("read %#v, left out %v; want %#v", m.Trace.Ranks, m.Ignored, want)
	}
}

// TestMeasuredRefuses checks that errors for files that are not measured steps name the place.
func TestMeasuredRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                      "want the columns rank, pass, start and end",
		"rank,pass,begin,end\n":                                 `row 1 is "rank,pass,begin,end"`,
		"rank,pass,start,end\n":                                 "the file has no pass",
		"rank,pass,start,end\n0,0F0,1,x\n":                      `row 2: "x" is not a time`,
		"rank,pass,start,end\n0,0X0,1,2\n":                      `row 2: "0X0" is not an action`,
		"rank,pass,start,end\n0,0F0,2,1\n":                      "row 2: 0F0 on rank 0 from 2µs to 1µs",
		"rank,pass,start,end\n-1,0F0,1,2\n":                     "0F0 on rank -1",
		"rank,pass,start,end\nx,0F0,1,2\n":                      `row 2: strconv.Atoi: parsing "x"`,
		"rank,pass,start,end\n0,0F0,1,2\n1,0B0,3,4\n":           "row 3: stage 0 is on rank 0 already",
		"rank,pass,start,end\n0,0F0,1\n":                        "it is not CSV",
		`{"traceEvents": [`:                                     "it is no trace in Chrome's format",
		`{"traceEvents": {}}`:                                   "the file has no pass",
		`[{"ph":"X","name":"aten::mm","pid":0,"ts":1,"dur":1}]`: "the file has no pass",
		`[{"ph":"X","name":"0F0","pid":"x","ts":1,"dur":1}]`:    `event 0F0: its process is "\"x\""`,
		`[{"ph":"X","name":"0F0","pid":0,"dur":1}]`:             `event 0F0: "" is not a time`,
		`{"distributedInfo":{"rank":1},"traceEvents":[{"ph":"X","name":"1F0","pid":0,"ts":1,"dur":1}]}`: "there are 1 stages, and none is called 0",
	} {
		if _, err := pipeline.ReadMeasured([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestMeasuredBeside compares a measured step with a played one: which passes took longer, where the order differs,
// and that clocks differ.
func TestMeasuredBeside(t *testing.T) {
	s, err := pipeline.New("gpipe", pipeline.Request{Ranks: 2, Micro: 2, Cost: costs(10000, 10000, 10000)})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Play()
	if err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.ReadMeasured([]byte("rank,pass,start,end\n0,0F1,0,10\n0,0F0,10,25\n0,0B0,100,120\n0,0B1,120,140\n1,1F1,8,18\n1,1F0,25,35\n1,1B0,40,60\n1,1B1,60,81\n"))
	if err != nil {
		t.Fatal(err)
	}
	us := time.Microsecond
	slow := trace.Slower(m.Trace)
	want := []pipeline.Slower{{0, pipeline.Pass{}, 15 * us, 10 * us},
		{1, pipeline.Pass{Kind: pipeline.Backward, Micro: 1, Stage: 1}, 21 * us, 20 * us}}
	if len(slow) != 8 || !reflect.DeepEqual(slow[:2], want) {
		t.Errorf("slower are %+v; want first %+v", slow, want)
	}
	if turns := trace.Turns(m.Trace); len(turns) != 2 || turns[0].Rank != 0 || turns[0].Place != 0 ||
		turns[0].Measured.Micro != 1 || turns[1].Rank != 1 {
		t.Errorf("orders differ at %+v; want place 0 of both ranks", turns)
	}
	if n, most := s.Problem.Early(m.Trace); n != 1 || most != 2*us {
		t.Errorf("%d passes start %v too early; want that of micro batch 1 on rank 1 by 2µs", n, most)
	}
	if path := s.Problem.Critical(m.Trace); len(path) == 0 ||
		m.Trace.Shares(path).Compute()+m.Trace.Shares(path).Idle != m.Trace.Makespan {
		t.Errorf("the critical path of the measured step is %+v; want one as long as the step", path)
	}
}
