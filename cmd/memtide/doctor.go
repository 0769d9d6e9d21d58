//go:build !js

package main

import (
	"context"
	"flag"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
)

var doctorCommand = &command{
	name:    "doctor",
	args:    "[flags] SNAPSHOT [SECOND]",
	summary: "say what is in a memory snapshot, and why it ran out",
	doc: `Examines a memory snapshot of PyTorch: what was in use when a request found no
room, or at the peak, by category and by place in the program; the holes that were
nearly large enough and what stands beside them; what the allocator would have
reserved under other settings; what grows from step to step. With a second
snapshot it says what differs. The pickle is read, never executed. No link can
carry a recording: send the file.`,
	examples: []string{
		"memtide doctor snapshot.pickle",
		"memtide doctor -json -gpu 1 snapshot.pickle",
		"memtide doctor first.pickle snapshot.pickle",
	},
	flags: func(fs *flag.FlagSet) action {
		json := fs.Bool("json", false, "write JSON instead of a table")
		device := fs.Int("gpu", profiles.AnyDevice,
			"`NUMBER` of the device (default: the one that ran out of memory, or has most in use)")
		at := fs.Int("at", doctor.Decisive,
			"`EVENT` after which memory is told (default: the request that found no room, or the peak)")
		return func(ctx context.Context, e *env, args []string) {
			if len(args) < 1 || len(args) > 2 {
				fail("one snapshot, or two to compare; got %d files", len(args))
			}
			examine(ctx, e, args, *device, *at, *json)
		}
	},
}

// examine reads one or two snapshots and writes down what there is to say.
func examine(ctx context.Context, e *env, files []string, device, at int, asJSON bool) {
	var read []*profiles.Profile
	for _, name := range files {
		p := readDevice(ctx, e, name, device)
		if p.History == nil {
			fail("%q: %v", name, doctor.ErrNoRecording)
		}
		read = append(read, p)
	}
	poll := engine.NewPoll(ctx, nil)
	if len(read) == 2 {
		c := cli.Must(doctor.Compare(read[0], read[1], poll))
		e.tell(asJSON, func() any {
			return &comparisonReport{Schema: doctorSchema, Names: files, Findings: findings(read), Comparison: c}
		}, func() string { return comparisonText(read, c) })
		return
	}
	r := cli.Must(doctor.Examine(read[0], at, poll))
	e.tell(asJSON, func() any {
		return &doctorReport{Schema: doctorSchema, Name: read[0].Name, Findings: findings(read),
			Notes: read[0].Source.Notes, Report: r}
	}, func() string { return doctorText(read[0], r) })
}

const doctorSchema = "memtide-doctor/1"

// doctorReport is what doctor -json writes about one snapshot.
type doctorReport struct {
	Schema   string   `json:"schema"`
	Name     string   `json:"name"`
	Findings []string `json:"findings"`
	Notes    []string `json:"notes"`
	*doctor.Report
}

// comparisonReport is what doctor -json writes about two.
type comparisonReport struct {
	Schema   string   `json:"schema"`
	Names    []string `json:"names"`
	Findings []string `json:"findings"`
	*doctor.Comparison
}

// findings returns the warnings of all profiles; of several, with their names.
func findings(read []*profiles.Profile) []string {
	list := []string{}
	for _, p := range read {
		for _, w := range p.Warnings {
			if len(read) > 1 {
				w = p.Name + ": " + w
			}
			list = append(list, w)
		}
	}
	return list
}
