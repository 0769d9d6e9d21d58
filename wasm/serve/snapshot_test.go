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

// recording returns a memory snapshot of two devices. On the second one a request found no room.
func recording(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../../cmd/memtide/testdata/snapshot.pickle")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// handled makes s handle a request. If looks is not negative, the request is stopped after that number of polls.
func handled(t *testing.T, s *Server, looks int, q *proto.Doctor) (*proto.Examined, *proto.Failure) {
	t.Helper()
	ctx := context.Background()
	if looks >= 0 {
		ctx = engine.LimitCalls(ctx, looks)
	}
	examined, fail, _ := askIn(t, ctx, s, q)
	return examined, fail
}

func about(file proto.Open, p proto.Part, n int) *proto.Doctor {
	return &proto.Doctor{File: file, Part: p, At: n, Setting: n}
}

// TestDoctor checks that the parts of an examination, requested one after the other of a file that is read once,
// add up to what package doctor returns.
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
	opened, fail, _ := ask(t, &s, &proto.Open{Bytes: recording(t), Keep: 7})
	if fail != nil || !opened.Memory.Told {
		t.Fatalf("opening gives %+v; want a recording", opened)
	}
	var names []string
	for _, b := range opened.Memory.Buffers.List[:4] {
		names = append(names, b.Kind.String())
	}
	if got := strings.Join(names, ", "); got != "workspace, weights, activations, workspace" {
		t.Errorf("the first buffers are %s", got)
	}
	kept := proto.Open{Keep: 7} // without its bytes, because the server has kept the file
	r, fail := handled(t, &s, -1, about(kept, proto.PartReport, 0))
	if fail != nil {
		t.Fatal(fail)
	}
	got := r.Report
	for i, more := 0, true; more; i++ {
		r, fail := handled(t, &s, -1, about(kept, proto.PartReplay, i))
		if fail != nil {
			t.Fatalf("setting %d: %v", i, fail)
		}
		got.Replays, more = append(got.Replays, *r.Replay), r.More
		if a := r.Advice; a != nil {
			got.Advice = *a
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the parts are %+v\nwant %+v", got, want)
	}
	if r, fail := handled(t, &s, -1, about(kept, proto.PartAlive, 2)); fail != nil || r.Alive.At != 2 {
		t.Errorf("after event 2: %+v, %v", r, fail)
	}
}

// TestDoctorReadsAgain checks that a file that the server has not kept is read again, for the device that is
// asked for.
func TestDoctorReadsAgain(t *testing.T) {
	var s Server
	ask(t, &s, &proto.Open{Bytes: recording(t), Keep: 7})
	zero := 0
	r, fail := handled(t, &s, -1, about(proto.Open{Bytes: recording(t), Keep: 8, Device: &zero}, proto.PartReport, 0))
	if fail == nil || !strings.Contains(fail.Text, "holds no buffer") {
		t.Errorf("device 0: %+v, %v; want that it holds no buffer", r, fail)
	}
	r, fail = handled(t, &s, -1, about(proto.Open{Bytes: recording(t), Keep: 9}, proto.PartReport, 0))
	if fail != nil || r.Report.Device != 1 {
		t.Errorf("another file: %+v, %v; want a report of device 1", r, fail)
	}
}

// TestDoctorRefuses checks that a request that cannot be answered fails with the reason.
func TestDoctorRefuses(t *testing.T) {
	var s Server
	file := proto.Open{Bytes: recording(t), Keep: 1}
	for _, c := range []struct {
		what  string
		looks int
		req   *proto.Doctor
		kind  proto.FailureKind
		want  string
	}{
		{"an unknown part", -1, about(file, "soul", 0), proto.BadRequest, `no part "soul"`},
		{"a setting too many", -1, about(file, proto.PartReplay, doctor.Settings), proto.BadRequest, "no part"},
		{"buffers alone", -1, about(proto.Open{Bytes: []byte("id,lower,upper,size\n1,0,5,7\n")}, proto.PartReport, 0),
			proto.BadRequest, "no memory snapshot"},
		{"a file that is none", -1, about(proto.Open{Bytes: []byte("hello")}, proto.PartReport, 0), proto.BadRequest,
			"begins with"},
		{"a replay that is stopped", 0, about(file, proto.PartReplay, 0), proto.Deadline, "stopped"},
	} {
		if c.looks >= 0 { // reads the file first, so that only the replay is stopped
			handled(t, &s, -1, about(file, proto.PartReport, 0))
		}
		r, fail := handled(t, &s, c.looks, c.req)
		if fail == nil || fail.Kind != c.kind || !strings.Contains(fail.Text, c.want) {
			t.Errorf("%s: %+v, %v; want %s: %s", c.what, r, fail, c.kind, c.want)
		}
	}
}
