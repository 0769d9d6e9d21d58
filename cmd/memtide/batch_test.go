package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/whatif"
)

// TestBatchCells checks the cells of a row. The last one holds remarks on what the numbers do not say.
func TestBatchCells(t *testing.T) {
	point := whatif.BatchPoint{Batch: 7, StepTime: 2 * time.Second, Peak: engine.GiB}
	for _, c := range []struct {
		row  batchRow
		want string
	}{
		{batchRow{err: engine.ErrNeedsLink}, "–|–|–|–|does not apply: the device has no link to the host"},
		{batchRow{largest: &whatif.LargestAnswer{BatchPoint: whatif.BatchPoint{Smallest: engine.GiB}, Fails: 1}},
			"none|–|–|–|one sample needs 1 GiB"},
		{batchRow{largest: &whatif.LargestAnswer{BatchPoint: point, Fails: 8}}, "7|2 s|3.5|1 GiB|"},
		{batchRow{largest: &whatif.LargestAnswer{BatchPoint: point}}, "7|2 s|3.5|1 GiB|no more than 9 are looked at"},
		{batchRow{largest: &whatif.LargestAnswer{BatchPoint: point, Fails: 8, Gaps: true, Undecided: []int{8, 9}}},
			"7|2 s|3.5|1 GiB|some smaller batches do not train; no answer in time at 2 batches"},
	} {
		if got := strings.ReplaceAll(c.row.cells(9), "\t", "|"); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.row, got, c.want)
		}
	}
}

// TestBatchStopped checks that an interrupted batch command reports it and still prints the rows it has.
func TestBatchStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := memtide(t, ctx, "batch", "-preset", "vgg16", "-strategy", "keepall,greedy")
	if o.code != cli.No || !strings.Contains(o.stderr, "stopped after 0 of 2") ||
		!strings.Contains(o.stdout, "largest batch") {
		t.Errorf("exit status %d, %q, %q; want %d and that it was stopped", o.code, o.stdout, o.stderr, cli.No)
	}
}

// TestBatchGraph checks that the batch of a graph from a file is changed by scaling its operations, and that a
// preset is built anew for each batch.
func TestBatchGraph(t *testing.T) {
	text := fmt.Sprintf(`{"format":"memtide/1","kind":"graph","name":"g","batch":2,
 "values":[{"id":0,"name":"x","bytes":%d,"role":"input"},{"id":1,"name":"y","bytes":%d}],
 "ops":[{"name":"f","time_s":0.001,"in":[0],"out":[1]}]}`, engine.MiB, engine.MiB)
	var out, complaints strings.Builder
	code := run(t.Context(), []string{"batch", "-budget", "10MiB", "-strategy", "keepall", "-"},
		strings.NewReader(text), &out, &complaints)
	// A sample takes half a MiB of each of the two values, so 10 MiB hold 10 samples.
	if code != cli.OK || !strings.Contains(out.String(), "keepall   10 ") ||
		!strings.Contains(out.String(), "scaled from batch 2") {
		t.Errorf("exit status %d, %q\n%s\nwant a largest batch of 10", code, complaints.String(), out.String())
	}
	o := memtide(t, t.Context(), "batch", "-preset", "resnet50-graph", "-device", "v100-sxm2-16gb-nvlink2",
		"-strategy", "keepall")
	if o.code != cli.OK || !strings.Contains(o.stdout, "keepall   190 ") {
		t.Errorf("exit status %d, %q\n%s\nwant a largest batch of 190, as in table 1 of arXiv:2010.14109", o.code,
			o.stderr, o.stdout)
	}
	if o := memtide(t, t.Context(), "batch", "-preset", "resnet50-graph", "-budget", "50%"); o.code != cli.Usage {
		t.Errorf("a share of a graph: exit status %d; want %d", o.code, cli.Usage)
	}
}
