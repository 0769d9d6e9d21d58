package serve

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/wasm/proto"
)

// recording is a snapshot of two devices, on the second of which a request found no room.
func recording(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../cmd/memtide/testdata/snapshot.pickle")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// handled has a server do one request, which may be stopped after so many looks at the poll.
func handled(t *testing.T, s *Server, looks int, req *proto.Request) *proto.Reply {
	t.Helper()
	ctx := context.Background()
	if looks >= 0 {
		ctx = engine.LimitCalls(ctx, looks)
	}
	var got *proto.Reply
	s.Handle(ctx, req, func(r *proto.Reply) { got = r })
	return got
}

func about(file proto.Open, p proto.Part, n int) *proto.Request {
	return &proto.Request{Op: proto.OpDoctor, Doctor: &proto.Doctor{File: file, Part: p, At: n, Setting: n}}
}

// What is told part by part, of a file that is read once, is what the doctor says.
func TestDoctor(t *testing.T) {
	p, err := profiles.Decode("", profiles.Bytes(recording(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := doctor.Examine(p, doctor.Decisive, nil)
	if err != nil {
		t.Fatal(err)
	}
	var s Server
	opened := handled(t, &s, -1, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{Bytes: recording(t), Keep: 7}})
	if opened.Failure != nil || !opened.Opened.Memory.Told {
		t.Fatalf("opening gives %+v; want a recording", opened)
	}
	var names []string
	for _, b := range opened.Opened.Memory.Buffers.List[:4] {
		names = append(names, b.Kind.String())
	}
	if got := strings.Join(names, ", "); got != "weights, activations, workspace, gradients" {
		t.Errorf("the first buffers are %s", got)
	}
	kept := proto.Open{Keep: 7} // without its bytes: it is at hand
	r := handled(t, &s, -1, about(kept, proto.PartReport, 0))
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	got := r.Examined.Report
	for i, more := 0, true; more; i++ {
		r := handled(t, &s, -1, about(kept, proto.PartReplay, i))
		if r.Failure != nil {
			t.Fatalf("setting %d: %v", i, r.Failure)
		}
		got.Replays, more = append(got.Replays, *r.Examined.Replay), r.Examined.More
		if a := r.Examined.Advice; a != nil {
			got.Advice = *a
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the parts are %+v\nwant %+v", got, want)
	}
	if r := handled(t, &s, -1, about(kept, proto.PartAlive, 2)); r.Failure != nil || r.Examined.Alive.At != 2 {
		t.Errorf("after event 2: %+v, %v", r.Examined, r.Failure)
	}
}

// A file that is not at hand is read again, of the device that is asked for.
func TestDoctorReadsAgain(t *testing.T) {
	var s Server
	handled(t, &s, -1, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{Bytes: recording(t), Keep: 7}})
	zero := 0
	r := handled(t, &s, -1, about(proto.Open{Bytes: recording(t), Keep: 8, Device: &zero}, proto.PartReport, 0))
	if r.Failure == nil || !strings.Contains(r.Failure.Text, "holds no buffer") {
		t.Errorf("device 0: %+v, %v; want that it holds no buffer", r.Examined, r.Failure)
	}
	r = handled(t, &s, -1, about(proto.Open{Bytes: recording(t), Keep: 9}, proto.PartReport, 0))
	if r.Failure != nil || r.Examined.Report.Device != 1 {
		t.Errorf("another file: %+v, %v; want a report of device 1", r.Examined, r.Failure)
	}
}

// A recording is compared with another one that is read beside it, and stays at hand.
func TestDoctorCompares(t *testing.T) {
	var s Server
	handled(t, &s, -1, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{Bytes: recording(t), Keep: 7}})
	compare := func(with int, content []byte) *proto.Reply {
		return handled(t, &s, -1, &proto.Request{Op: proto.OpDoctor, Doctor: &proto.Doctor{File: proto.Open{Bytes: content}, Part: proto.PartCompare, With: with}})
	}
	r := compare(7, recording(t))
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	c := r.Examined.Comparison
	for _, d := range append(c.Sites, c.Categories...) {
		if d.First == 0 || d.First != d.Second {
			t.Errorf("%s: %d and %d bytes; want the same of the same", d.Name, d.First, d.Second)
		}
	}
	if len(c.Sites) == 0 || len(c.First.Curve) == 0 || !reflect.DeepEqual(c.First.Curve, c.Second.Curve) {
		t.Errorf("%d places, curves %v and %v; want places, and the same curve twice", len(c.Sites), c.First.Curve, c.Second.Curve)
	}
	for want, r := range map[string]*proto.Reply{
		"not at hand":        compare(6, recording(t)),
		"no memory snapshot": compare(7, []byte("id,lower,upper,size\n1,0,5,7\n")),
		"begins with":        compare(7, []byte("hello")),
	} {
		if r.Failure == nil || r.Failure.Kind != proto.BadRequest || !strings.Contains(r.Failure.Text, want) {
			t.Errorf("%+v, %v; want a bad request: %s", r.Examined, r.Failure, want)
		}
	}
	if r := handled(t, &s, -1, about(proto.Open{Keep: 7}, proto.PartReport, 0)); r.Failure != nil {
		t.Errorf("afterwards the first one is gone: %v", r.Failure)
	}
}

// What cannot be answered is refused with the reason.
func TestDoctorRefuses(t *testing.T) {
	var s Server
	file := proto.Open{Bytes: recording(t), Keep: 1}
	for _, c := range []struct {
		what  string
		looks int
		req   *proto.Request
		kind  proto.FailureKind
		want  string
	}{
		{"an unknown part", -1, about(file, "soul", 0), proto.BadRequest, `no part "soul"`},
		{"a setting too many", -1, about(file, proto.PartReplay, doctor.Settings), proto.BadRequest, "no part"},
		{"buffers alone", -1, about(proto.Open{Bytes: []byte("id,lower,upper,size\n1,0,5,7\n")}, proto.PartReport, 0), proto.BadRequest, "no memory snapshot"},
		{"a file that is none", -1, about(proto.Open{Bytes: []byte("hello")}, proto.PartReport, 0), proto.BadRequest, "begins with"},
		{"a replay that is stopped", 0, about(file, proto.PartReplay, 0), proto.Deadline, "stopped"},
	} {
		if c.looks >= 0 { // what is stopped is the replay, not the reading
			handled(t, &s, -1, about(file, proto.PartReport, 0))
		}
		r := handled(t, &s, c.looks, c.req)
		if r.Failure == nil || r.Failure.Kind != c.kind || !strings.Contains(r.Failure.Text, c.want) {
			t.Errorf("%s: %+v, %v; want %s: %s", c.what, r.Examined, r.Failure, c.kind, c.want)
		}
	}
}

// A program that links no examiner, like the page, says so.
func TestNoExaminer(t *testing.T) {
	defer func(before func(*Server, context.Context, *proto.Doctor) (*proto.Examined, *proto.Failure)) {
		examine = before
	}(examine)
	examine = nil
	_, fail := new(Server).examined(t.Context(), &proto.Doctor{File: proto.Open{Bytes: recording(t)}})
	if fail == nil || fail.Kind != proto.BadRequest || !strings.Contains(fail.Text, "cannot examine") {
		t.Errorf("got %v; want a bad request: this program cannot examine recordings", fail)
	}
}
