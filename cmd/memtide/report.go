package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// solveSchema is the schema of solve -json, with and without a schedule.
const solveSchema = "memtide-solve/1"

// solveReport is the output of solve -json. Scripts rely on its field names: new ones may be added, but none renamed.
type solveReport struct {
	Schema   string         `json:"schema"`
	Question questionReport `json:"question"`

	BudgetBytes engine.Bytes `json:"budget_bytes"` // resolved
	// false for the best schedule so far of a search that was stopped, by -limit or by limits of its own
	Complete bool `json:"complete"`
	// the checker agreed on step time and peak, and both equal the claimed ones
	Verified bool            `json:"verified"`
	Problem  string          `json:"problem,omitempty"`
	Optimal  bool            `json:"optimal"`
	Within   string          `json:"within,omitempty"` // the set in which the schedule is optimal
	Claimed  proto.Reference `json:"claimed"`
	Measured *measured       `json:"measured"` // null if the schedule cannot be played
	KeepAll  proto.Reference `json:"keep_all"` // keeping everything, without a limit
	Slowdown float64         `json:"slowdown"` // measured step time over that of keep_all, less 1
	Bounds   []proto.Bound   `json:"lower_bounds"`
	Notes    []string        `json:"notes"`
	Link     string          `json:"link,omitempty"` // fragment of the link; empty if it would be too long
	Help     []leverReport   `json:"help"`           // what would help, best first
	NoGain   []string        `json:"no_gain"`        // what was tried and would not help
}

// questionReport is the question.
type questionReport struct {
	Network   networkReport `json:"network"`
	Device    deviceReport  `json:"device"`
	Transfers string        `json:"transfers"`
	Strategy  string        `json:"strategy,omitempty"` // of solve
	Args      engine.Args   `json:"args,omitempty"`     // of solve, without those at their default
}

type networkReport struct {
	Name             string       `json:"name"`
	Preset           string       `json:"preset,omitempty"`
	Format           string       `json:"format"`
	Batch            int          `json:"batch,omitempty"`
	Stages           int          `json:"stages"`
	Ops              int          `json:"ops,omitempty"`
	ForwardNS        int64        `json:"forward_ns"`
	BackwardNS       int64        `json:"backward_ns"`
	SavedBytes       engine.Bytes `json:"saved_bytes"`
	ResidentBytes    engine.Bytes `json:"resident_bytes"`
	KeepAllPeakBytes engine.Bytes `json:"keep_all_peak_bytes"`
	Lint             []string     `json:"lint"`
	Source           originReport `json:"source"`
}

type deviceReport struct {
	ID          string       `json:"id,omitempty"` // empty if the rates are not a listed device's
	Name        string       `json:"name,omitempty"`
	MemoryBytes engine.Bytes `json:"memory_bytes,omitempty"`
	ToHost      engine.Rate  `json:"to_host_bytes_per_s"`
	ToDevice    engine.Rate  `json:"to_device_bytes_per_s"`
	Duplex      string       `json:"duplex"`
}

type measured struct {
	proto.Reference
	HostPeakBytes engine.Bytes             `json:"host_peak_bytes"`
	ComputeNS     time.Duration            `json:"compute_ns"`
	RecomputeNS   time.Duration            `json:"recompute_ns"`
	WaitingNS     map[string]time.Duration `json:"waiting_ns"` // by reason; with the two above the sum is step_time_ns
	Decisions     []string                 `json:"decisions"`  // by stage
}

// failureReport is the output of solve -json without an answer.
type failureReport struct {
	Schema   string         `json:"schema"`
	Question questionReport `json:"question"`
	Error    *errorReport   `json:"error"`
	Help     []leverReport  `json:"help,omitempty"` // what would make it fit, fastest first
}

// errorReport is why there is no schedule.
type errorReport struct {
	Kind        proto.FailureKind `json:"kind"` // infeasible, unsupported, deadline, bad-request, crash
	Text        string            `json:"text"`
	BudgetBytes engine.Bytes      `json:"budget_bytes,omitempty"` // of infeasible: the budget, resolved
	// of infeasible: the smallest budget that would do
	SmallestBytes engine.Bytes `json:"smallest_bytes,omitempty"`
}

// sweepReport is the output of sweep -json.
type sweepReport struct {
	Schema   string          `json:"schema"`
	Question questionReport  `json:"question"`
	Complete bool            `json:"complete"` // false if stopped; points that were not reached are missing
	KeepAll  proto.Reference `json:"keep_all"`
	Points   []pointReport   `json:"points"` // by strategy, then by budget
}

// pointReport is one strategy at one budget. Step time and peak are measured, and 0 if there is no schedule.
type pointReport struct {
	Strategy string       `json:"strategy"`
	Args     engine.Args  `json:"args,omitempty"`
	Budget   engine.Bytes `json:"budget_bytes"`
	proto.Reference
	Verified     bool          `json:"verified"`
	Problem      string        `json:"problem,omitempty"`
	Optimal      bool          `json:"optimal"`
	LowerBoundNS time.Duration `json:"lower_bound_ns"`
	Error        *errorReport  `json:"error,omitempty"`
}

// waitingKeys holds the names of the reasons in JSON.
var waitingKeys = [sim.NumReasons]string{
	sim.None: "none", sim.NeedsData: "needs_data", sim.NeedsRoom: "needs_room", sim.CopyOut: "copy_out",
	sim.Window: "window", sim.Dependency: "dependency", sim.Drain: "drain",
}

func (r *result) json(ctx context.Context, limit time.Duration) *solveReport {
	s := r.solved
	out := &solveReport{
		Schema:      solveSchema,
		Question:    r.in.question(),
		BudgetBytes: s.Budget,
		Complete:    r.complete,
		Verified:    s.Verdict.Verified,
		Problem:     s.Verdict.Problem,
		Optimal:     s.Claim.Optimal,
		Within:      s.Claim.Within,
		Claimed:     proto.Reference{StepTime: s.Claim.StepTime, Peak: s.Claim.Peak},
		KeepAll:     s.KeepAll,
		Bounds:      append([]proto.Bound{}, s.Bounds...),
		Notes:       append([]string{}, s.Claim.Notes...),
		Help:        []leverReport{},
		NoGain:      []string{},
	}
	if out.Question.Network.KeepAllPeakBytes == 0 { // of a graph
		out.Question.Network.KeepAllPeakBytes = s.KeepAll.Peak
	}
	out.Question.Strategy, out.Question.Args = r.in.method().Strategy, r.in.method().Args
	if fragment, err := r.in.permalink(); err == nil {
		out.Link = fragment
	}
	if t := s.Trace; t != nil {
		out.Measured = measure(t)
		if s.KeepAll.StepTime > 0 {
			out.Slowdown = float64(t.Makespan)/float64(s.KeepAll.StepTime) - 1
		}
		out.Help, out.NoGain = r.in.levers(ctx, limit, t.Makespan)
	}
	return out
}

func measure(t *sim.Trace) *measured {
	m := &measured{
		Reference:     proto.Reference{StepTime: t.Makespan, Peak: t.Peak},
		HostPeakBytes: t.HostPeak,
		ComputeNS:     t.ComputeTime,
		RecomputeNS:   t.RecomputeTime,
		WaitingNS:     map[string]time.Duration{},
		Decisions:     []string{},
	}
	for reason, d := range t.Waiting {
		if d > 0 {
			m.WaitingNS[waitingKeys[reason]] = d
		}
	}
	for _, d := range t.Decisions {
		m.Decisions = append(m.Decisions, decisionNames[d])
	}
	return m
}

// question returns the question of solve, sweep and batch.
func (in *input) question() questionReport {
	p, t, d := in.profile, in.profile.Totals(), in.device
	return questionReport{
		Network: networkReport{
			Name: p.Name, Preset: in.network.Preset, Format: p.Format, Batch: p.Batch, Stages: t.Stages, Ops: t.Ops,
			ForwardNS: int64(t.Forward), BackwardNS: int64(t.Back), SavedBytes: t.Saved,
			ResidentBytes: t.Resident.Total(), KeepAllPeakBytes: t.KeepAllPeak,
			Lint: append([]string{}, in.findings()...), Source: in.origin(),
		},
		Device:    deviceReport{in.deviceID, d.Name, d.Memory, d.ToHost, d.ToDev, d.Duplex.String()},
		Transfers: in.choice.Transfers.String(),
	}
}

func failureOf(f *proto.Failure) *errorReport {
	return &errorReport{Kind: f.Kind, Text: f.Text, BudgetBytes: f.Budget, SmallestBytes: f.Smallest}
}

// sortedArgs returns "name=value" for each argument, sorted by name.
func sortedArgs(args engine.Args) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		out = append(out, name+"="+args[name])
	}
	return out
}

func writeJSON(e *env, v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// provenance returns the sources of the network's numbers, in one line.
func (in *input) provenance() string {
	s := in.profile.Source
	times := "times " + cmp.Or(string(s.Times), "of unknown origin")
	if s.Device != "" {
		times += " on " + s.Device
	}
	parts := []string{times, "sizes " + cmp.Or(string(s.Sizes), "of unknown origin")}
	if in.profile.DType != "" {
		parts = append(parts, in.profile.DType)
	}
	if s.Tool != "" && s.Tool != "preset" {
		parts = append(parts, "from "+s.Tool)
	}
	return strings.Join(parts, ", ")
}

// findings returns the warnings about the profile and about the choices.
func (in *input) findings() []string {
	list := slices.Clone(in.profile.Warnings)
	if times, link := in.profile.Source.Device, in.device.Name; times != "" && link != "" && !sameModel(times, link) {
		list = append(list, fmt.Sprintf("The times are of %s and the link is of %s: what a transfer costs against computing is so on neither.", times, link))
	}
	if in.profile.NotLinear() != "" && in.profile.Graph != nil {
		list = append(list, "The chain hides nearly every choice in one stage: -as graph solves the operations themselves.")
	}
	return list
}

// findingsText returns findings and assumptions as lists.
func (in *input) findingsText() string {
	return list("Findings about the profile", in.findings()) + list("Assumed or left out", in.profile.Source.Notes)
}

// sameModel reports whether two names of devices share the word for the model, such as V100 or H200.
func sameModel(a, b string) bool {
	words := modelWords(b)
	return strings.EqualFold(a, b) ||
		slices.ContainsFunc(modelWords(a), func(w string) bool { return slices.Contains(words, w) })
}

// modelWords returns the words of a name that can be a model: those with digits, except numbers of bytes or bits.
func modelWords(name string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z')
	}) {
		digits := strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		if digits != "" && !strings.HasSuffix(w, "GB") && w != "32" && w != "16" && w != "BIT" {
			list = append(list, w)
		}
	}
	return list
}

// originReport is the origin of the numbers.
type originReport struct {
	Tool   string          `json:"tool,omitempty"`
	Times  profiles.Origin `json:"times,omitempty"` // measured, exact, analytic, estimated; empty if unknown
	Sizes  profiles.Origin `json:"sizes,omitempty"`
	Device string          `json:"device,omitempty"` // device of the times
	DType  string          `json:"dtype,omitempty"`
	Notes  []string        `json:"notes"` // what was assumed, or left out
}

func (in *input) origin() originReport {
	s := in.profile.Source
	notes := []string{}
	for _, n := range s.Notes {
		notes = append(notes, format.Durations(n))
	}
	return originReport{s.Tool, s.Times, s.Sizes, s.Device, in.profile.DType, notes}
}
