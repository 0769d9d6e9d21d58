package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/doctor"
	"memtide/web/format"
	"memtide/web/question"
)

var doctorCommand = &command{
	name: "doctor",
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

// examine reads one or two snapshots and writes the report.
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
	}, func() string {
		return cli.Table(func(w *tabwriter.Writer) {
			title(w, read[0], r)
			if f := r.Failure; f != nil {
				failureText(w, f)
			}
			fmt.Fprintf(w, "\n%s\n", adviceText(r))
			aliveText(w, r)
			if len(r.Replays) > 0 {
				replayText(w, r)
			}
			growthText(w, r)
		})
	})
}

const doctorSchema = "memtide-doctor/1"

// doctorReport is the output of doctor -json for one snapshot.
type doctorReport struct {
	Schema   string   `json:"schema"`
	Name     string   `json:"name"`
	Findings []string `json:"findings"`
	Notes    []string `json:"notes"`
	*doctor.Report
}

// comparisonReport is the output of doctor -json for two snapshots.
type comparisonReport struct {
	Schema   string   `json:"schema"`
	Names    []string `json:"names"`
	Findings []string `json:"findings"`
	*doctor.Comparison
}

// findings returns the warnings of all profiles, with their names if there are several.
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

// mostLines limits a list for people; -json has more.
const mostLines = 12

func title(w *tabwriter.Writer, p *profiles.Profile, r *doctor.Report) {
	fmt.Fprintf(w, "%s: device %d of %d, %s\n", cli.Printable(p.Name), r.Device, max(1, len(r.Devices)),
		profiles.Count(r.Recorded, "event"))
	for _, text := range p.Warnings {
		fmt.Fprintf(w, "Finding: %s\n", cli.Printable(text))
	}
	words := "Peak in use %s, most reserved %s"
	if r.Recorded == 0 {
		words = "In use %s, reserved %s when it was written"
	}
	fmt.Fprintf(w, words, format.Bytes(r.Peak), format.Bytes(r.PeakReserved))
	if r.Capacity > 0 {
		fmt.Fprintf(w, ", of %s that could be when it ran out", format.Bytes(r.Capacity))
	}
	fmt.Fprintf(w, "; settings: %s\n", cmp.Or(cli.Printable(r.Settings), "PyTorch's default, or not recorded"))
}

func failureText(w *tabwriter.Writer, f *doctor.Failure) {
	fmt.Fprintf(w, "\nOut of memory: %s asked for %s. In use %s, reserved %s, left on the device %s.\n",
		cli.Printable(f.Site), format.BytesUp(f.Bytes),
		format.Bytes(f.InUse), format.Bytes(f.Reserved), format.Bytes(f.DeviceFree))
	if len(f.Holes) == 0 {
		fmt.Fprint(w, "Nothing was free in segments that it could use.\n")
	} else {
		fmt.Fprintf(w, "Free in segments that it could use: %s. The largest holes:\n", format.Bytes(f.Free))
	}
	for _, h := range f.Holes {
		fmt.Fprintf(w, "  %s\t%s too small\tbetween %s\tand %s\n", format.Bytes(h.Bytes), format.BytesUp(h.Missing),
			neighbourText(&h.Below), neighbourText(&h.Above))
	}
	if f.Unmapped > 0 {
		fmt.Fprintf(w, "Address space that is not mapped: %s. No memory is behind it: it is neither free nor a hole.\n", format.Bytes(f.Unmapped))
	}
}

func neighbourText(n *doctor.Neighbour) string {
	if n.End {
		return "the end of the segment"
	}
	text := fmt.Sprintf("%s of %s, %s", format.Bytes(n.Bytes), cli.Printable(n.Site), n.Category)
	if n.Stays {
		text += ", kept to the end"
	}
	return text
}

// adviceText returns the advice in one line.
func adviceText(r *doctor.Report) string {
	a := &r.Advice
	switch {
	case a.Verdict != doctor.Setting:
		return cli.Printable(question.NoSetting(r, a, r.Replays))
	case r.Failure != nil:
		return "Remedy: " + a.Line + "  (a replay of the requests finds room for all)"
	}
	return fmt.Sprintf("Worth a try: %s  (a replay reserves %s less than one of the settings of the run)", a.Line,
		format.Bytes(a.Saves))
}

func aliveText(w *tabwriter.Writer, r *doctor.Report) {
	a := r.Alive
	if fmt.Fprint(w, "\nIn use"); r.Recorded > 0 {
		fmt.Fprintf(w, " after event %d", a.At)
	}
	if a.Time > 0 {
		fmt.Fprintf(w, ", at %s", format.Duration(time.Duration(a.Time)*time.Microsecond))
	}
	fmt.Fprintf(w, ": %s in %s\n", format.Bytes(a.Bytes), profiles.Count(a.Count, "buffer"))
	for _, s := range a.Categories {
		guess := ""
		if s.Guessed > 0 {
			guess = fmt.Sprintf("%s of it guessed by how long it lives", format.Bytes(s.Guessed))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", s.Category, format.Bytes(s.Bytes), share(s.Bytes, a.Bytes),
			profiles.Count(s.Count, "buffer"), guess)
	}
	fmt.Fprint(w, "By place in the program\n")
	for _, s := range a.Sites[:min(len(a.Sites), mostLines)] {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", cli.Printable(s.Site), format.Bytes(s.Bytes),
			share(s.Bytes, a.Bytes), profiles.Count(s.Count, "buffer"), s.Category)
	}
}

func share(part, all engine.Bytes) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

func replayText(w *tabwriter.Writer, r *doctor.Report) {
	fmt.Fprint(w, "\nReplayed from an empty cache\treserved\n")
	for _, v := range r.Replays {
		fits := ""
		switch {
		case v.Fits == nil:
		case *v.Fits:
			fits = "all find room"
		default:
			fits = "a request finds no room"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", cmp.Or(v.Setting, "default"), format.Bytes(v.Reserved), fits)
	}
}

func growthText(w *tabwriter.Writer, r *doctor.Report) {
	switch g := r.Growth; {
	case r.Recorded == 0:
	case !r.Trains:
		fmt.Fprint(w, "\nGrowth: no stack is of a backward or of an optimizer, so steps cannot be told, nor what grows.\n")
	case g == nil:
		fmt.Fprint(w, "\nGrowth: fewer than three steps can be told apart.\n")
	case len(g.Leaks) == 0:
		fmt.Fprintf(w, "\nGrowth: nothing grows over %d steps.\n", g.Steps)
	default:
		fmt.Fprintf(w, "\nGrowth over %d steps: %s more with each\n", g.Steps, format.Bytes(g.PerStep))
		for _, l := range g.Leaks {
			fmt.Fprintf(w, "  %s\t%s per step\t%s kept\n", cli.Printable(l.Site), format.Bytes(l.PerStep),
				profiles.Count(l.Count, "buffer"))
		}
	}
}

// comparisonText returns a comparison for people.
func comparisonText(read []*profiles.Profile, c *doctor.Comparison) string {
	return cli.Table(func(w *tabwriter.Writer) {
		title(w, read[0], c.First)
		title(w, read[1], c.Second)
		lines := func(title string, list []doctor.Difference) {
			fmt.Fprintf(w, "\n%s\tfirst\tsecond\tmore\n", title)
			for _, d := range list[:min(len(list), mostLines)] {
				fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", cli.Printable(d.Name), format.Bytes(d.First),
					format.Bytes(d.Second), format.BytesChange(d.More()))
			}
		}
		lines("By category", c.Categories)
		lines("By place in the program", c.Sites)
	})
}
