package pipeline_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memtide/engine/pipeline"
)

// TestCSVRoundTrip checks that torch's CSV keeps every schedule of one path, and that schedules of two paths are
// refused.
func TestCSVRoundTrip(t *testing.T) {
	for _, name := range pipeline.Names() {
		s, err := pipeline.New(name, pipeline.Request{Ranks: 4, Micro: 8, Cost: costs(1, 1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		text, err := pipeline.WriteCSV(s.Problem, s.Order)
		if name == "dualpipe" {
			if err == nil {
				t.Error("dualpipe is written, with its two paths")
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		in, err := pipeline.ReadCSV(text)
		ranks := pipeline.Layout(name, 4, 2)
		if err != nil || !reflect.DeepEqual(in.Order, s.Order) || !slices.Equal(in.Rank, ranks) || in.Micro != 8 {
			t.Errorf("%s: read %+v (%v)\nfrom %s", name, in, err, text)
		}
	}
}

// TestReadCSV reads actions of torch's own files: whole and split backwards, joined ones, and actions that are left
// out.
func TestReadCSV(t *testing.T) {
	in, err := pipeline.ReadCSV([]byte("0UNSHARD,0F0,0SEND_F0,,(0F1;0B0)OVERLAP_F_B, 0RECV_B1,0I1,0W1,0REDUCE_GRAD\n,1F0,1B0,1F1,1B1\n"))
	if err != nil {
		t.Fatal(err)
	}
	pass := func(k pipeline.Kind, m, s int, joined bool) pipeline.Pass {
		return pipeline.Pass{Kind: k, Micro: m, Stage: s, Joined: joined}
	}
	want := [][]pipeline.Pass{
		{pass(pipeline.Forward, 0, 0, false), pass(pipeline.Forward, 1, 0, true),
			pass(pipeline.Backward, 0, 0, false), pass(pipeline.Inputs, 1, 0, false),
			pass(pipeline.Weights, 1, 0, false)},
		{pass(pipeline.Forward, 0, 1, false), pass(pipeline.Backward, 0, 1, false),
			pass(pipeline.Forward, 1, 1, false), pass(pipeline.Backward, 1, 1, false)},
	}
	if !reflect.DeepEqual(in.Order, want) || in.Ignored["SEND_F"] != 1 || in.Ignored["UNSHARD"] != 1 ||
		len(in.Ignored) != 4 {
		t.Errorf("read %v, left out %v; want %v", in.Order, in.Ignored, want)
	}
	for text, want := range map[string]string{
		"0F0,0X1\n":              `row 1, column 2: "0X1" is not an action`,
		"0F0\n0B0\n":             "row 2, column 1: stage 0 is on rank 0 already",
		"0F0,2F0\n":              "there are 2 stages, and none is called 1",
		",,\n":                   "the file has no pass",
		"0F9999999\n":            "both below 1048576",
		"(0F0;0I1)OVERLAP_F_B\n": "want a forward and a whole backward",
		"0F0,\"\n":               "it is not CSV",
		"0F0,-1F0\n":             `row 1, column 2: "-1F0" is not an action`,
	} {
		if _, err := pipeline.ReadCSV([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// The trace for Chrome has every pass with its rank and times.
func TestChromeTrace(t *testing.T) {
	s, err := pipeline.New("1f1b", pipeline.Request{Ranks: 2, Micro: 2, Cost: costs(2000, 1000, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := s.Play()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []struct {
			Name    string
			PID     int
			TS, Dur float64
		}
	}
	if err := json.Unmarshal(trace.ChromeTrace(), &got); err != nil || len(got.TraceEvents) != 8 {
		t.Fatalf("%d events (%v), want 8", len(got.TraceEvents), err)
	}
	if e := got.TraceEvents[4]; e.Name != "1F0" || e.PID != 1 || e.TS != 2 || e.Dur != 2 {
		t.Errorf("the first pass of rank 1 is %+v; want 1F0 from 2 for 2 us", e)
	}
}
