package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"memtide/cmd/cli"
	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm"
	"memtide/profiles/preset"
)

// outcome is the exit status and the output of a run.
type outcome struct {
	code           int
	stdout, stderr string
}

// memtide runs a command line and returns its outcome. A "< file" at the end names the standard input.
func memtide(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	var in, out, complaints bytes.Buffer
	if n := len(args); n >= 2 && args[n-2] == "<" {
		data, err := os.ReadFile(args[n-1])
		if err != nil {
			t.Fatal(err)
		}
		in.Write(data)
		args = args[:n-2]
	}
	// In a synctest bubble in which nothing sleeps, no time passes, so no time limit is reached. ctx.Done makes
	// the context's channel before the bubble starts, since a channel that is made in a bubble belongs to it.
	ctx.Done()
	var code int
	synctest.Test(t, func(*testing.T) { code = run(ctx, args, &in, &out, &complaints) })
	return outcome{code, out.String(), complaints.String()}
}

// words splits a command line at spaces. Text in single quotes is one word.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// goldenRuns lists the runs whose whole output is compared with files in testdata/golden.
var goldenRuns = []struct{ name, line string }{
	{"help", "help"},
	{"help-presets", "help presets"},
	{"help-devices", "help devices"},
	{"help-json", "help json"},
	{"help-solve", "help solve"},
	{"help-sweep", "sweep -h"},
	{"help-place", "place -h"},
	{"help-allocators", "help allocators"},
	{"help-link", "link -h"},
	{"help-svg", "svg -help"},
	{"help-export", "export -h"},
	{"help-torch", "torch -h"},
	{"help-serve", "serve --help"},

	{"solve-preset", "solve -preset resnet101-b32"},
	{"solve-file", "solve net.csv -budget 500MiB -strategy greedy -bw 6GB/s"},
	{"solve-json", "solve -json -budget 51% -strategy greedy -bw 6GB/s - < net.csv"},
	{"solve-args", "solve -strategy sequential -arg segments=4 -budget 600MiB -device a100-sxm-40gb -duplex full -transfers streamed net.csv"},
	{"solve-findings", "solve -budget 90% odd.csv"},
	{"solve-own-device", "solve owndevice.json"},
	{"solve-link", "solve -from 'http://example.org/page#v=1&p=vgg16-b32&m=90%25&s=rotor&bw=10GBps&bwd=8GBps&xfer=streamed'"},
	{"sweep-preset", "sweep -preset resnet50-b32 -strategy rotor,greedy -budget 30%..90% -points 4"},
	{"sweep-file", "sweep -strategy rotor,sequential -arg segments=3 -budget 100MiB,500MiB,70% net.csv"},
	{"sweep-json", "sweep -json -strategy keepall,greedy -budget 700MiB,1GiB net.csv"},
	{"batch-preset", "batch -preset resnet50 -device v100-sxm2-16gb-nvlink2 -strategy keepall,greedy,vdnnpp -batches 64,190,256"},
	{"batch-file", "batch -budget 3GiB -strategy keepall,rotor net.csv"},
	{"batch-json", "batch -json -budget 3GiB -strategy keepall,greedy -batches 8 -preset vgg16-b4 -most 64"},
	{"export-json", "export -budget 500MiB -strategy greedy -bw 6GB/s net.csv"},
	{"error-torch-unit", "torch -class unit -budget 95% operators.json"},
	{"torch-nested", "torch -class nested -budget 95% operators.json"},
	{"torch-offload", "torch -class offload -link 1TB/s -budget 90% operators.json"},
	{"estimate", "estimate -card rtx-4090 operators.json"},
	{"estimate-json", "estimate -json -optimizer sgd operators.json"},
	{"help-estimate", "estimate -h"},
	{"help-diff", "diff -h"},
	{"diff-same", "diff -card l4 operators.json operators.json"},
	{"error-factory", "my.module:factory -o net.json"},
	{"error-estimate-factory", "estimate my.module:factory"},
	{"error-diff-one", "diff operators.json"},
	{"torch-rotor", "torch -strategy rotor -budget 95% operators.json"},
	{"torch-settings", "torch -settings -budget 95% operators.json"},
	{"place-order", "place -preset alexnet-b128 -budget 1200MiB -strategy greedy -alloc high-end -alloc-arg order=prefetch-first"},
	{"place-optimal", "place -budget 600MiB -alloc optimal net.csv"},
	{"place-file", "place buffers.8192.csv"},
	{"error-place-proven", "place -budget 4600B buffers.8192.csv"},
	{"place-file-open", "place -alloc best-fit -budget 4700B buffers.8192.csv"},
	{"place-snapshot", "place snapshot.pickle"},
	{"doctor", "doctor snapshot.pickle"},
	{"doctor-two", "doctor first.pickle snapshot.pickle"},
	{"doctor-json", "doctor -json -at 2 snapshot.pickle"},
	{"doctor-expandable", "doctor expandable.pickle"},
	{"doctor-unrecorded", "doctor unrecorded.pickle"},
	{"help-doctor", "doctor -h"},
	{"error-doctor-device", "doctor -gpu 3 snapshot.pickle"},
	{"error-doctor-file", "doctor net.csv"},
	{"place-link", "place -budget 3.5GiB -from 'v=1&p=vgg16-b32&m=90%25&s=rotor&alloc=va&alloc.chunk=2'"},
	{"link-preset", "link -preset resnet50-b64 -budget 4GiB -strategy rotor -base https://example.org/memtide/"},
	{"link-chain-of-both", "link -budget 80% ../../../profiles/formats/pipedream/testdata/branchy.graph.txt"},
	{"solve-graph-totals", "solve -json -as graph -budget 95% ../../../profiles/formats/pipedream/testdata/branchy.graph.txt"},
	{"link-file", "link -strategy greedy -budget 80% net.csv"},
	{"link-own-device", "link owndevice.json"},
	{"link-override", "link -from 'v=1&p=vgg16-b32&m=60%25&s=sequential&s.segments=3&bw=9GBps&title=hello' -device a100-sxm-40gb -strategy rotor"},

	{"help-plan", "plan -h"},
	{"help-score", "score -h"},
	{"plan-fits", "plan config.json -gpus 2 -seq 2048 -device a100-sxm-40gb -ckpt full -loss chunked"},
	{"error-plan-not", "plan config.json -seq 32768 -device v100-pcie-16gb -program torchtune"},
	{"plan-json", "plan -json -model gpt2 -device v100-pcie-16gb -seq 1024 -states bf16 -optimizer sgd -lora 8"},
	{"plan-picture", "plan -model SD-1.5 -device h100-sxm-80gb -ckpt full"}, // usual sides
	{"plan-chain", "plan -model gpt2 -device v100-pcie-16gb -seq 1024 -program torchtune -chain"},
	{"score", "score rows.json"},
	{"score-json", "score -json - < rows.json"},

	{"help-pipeline", "pipeline -h"},
	{"pipeline", "pipeline -ranks 4 -micro 8 -schedule zb-h1 -act 1GiB -fixed 10GiB"},
	{"pipeline-search", "pipeline -ranks 3 -micro 4 -shape wrapped -schedule search -whole -forward 2ms -inputs 1ms -limit 6B"},
	{"pipeline-exact", "pipeline -ranks 3 -micro 4 -schedule exact -limit 1B"},
	{"error-pipeline-exact", "pipeline -ranks 4 -micro 8 -schedule exact"},
	{"pipeline-json", "pipeline -json -ranks 2 -micro 2 -schedule zb-h1 -send 0.5ms"},
	{"pipeline-csv", "pipeline -ranks 2 -micro 4 -schedule dualpipev -csv"},
	{"pipeline-file", "pipeline - < schedule.csv"},
	{"pipeline-measured", "pipeline -schedule gpipe -measured measured.csv -send 2us"},
	{"pipeline-measured-json", "pipeline -json -measured -  < measured.csv"},
	{"pipeline-measured-svg", "pipeline -svg -schedule gpipe -measured measured.csv"},
	{"error-pipeline-measured", "pipeline -schedule zb-v -measured measured.csv"},
	{"pipeline-trace", "pipeline -trace -ranks 2 -micro 1"},
	{"error-pipeline-rounds", "pipeline -ranks 8 -micro 20 -schedule interleaved"},
	{"error-pipeline-room", "pipeline -schedule gpipe -limit 4B"},
	{"error-pipeline-file", "pipeline net.csv"},
	{"error-pipeline-csv", "pipeline -schedule dualpipe -csv"},

	{"error-plan-none", "plan"},
	{"error-plan-two", "plan -model gpt2 config.json"},
	{"error-plan-model", "plan -model gpt9"},
	{"error-plan-type", "plan owndevice.json"},
	{"error-plan-device", "plan -model gpt2 -device gtx-9700"},
	{"error-plan-shard", "plan -model gpt2 -shard zero4"},
	{"error-plan-cards", "plan -model gpt2 -gpus 3 -tp 2"},
	{"error-plan-loss", "plan -model gpt2 -loss magic"},
	{"error-score-none", "score"},
	{"error-score-format", "score config.json"},

	{"error-no-command", ""},
	{"error-topic", "help me"},
	{"error-topics", "help solve sweep"},
	{"error-command", "solv net.csv"},
	{"error-flag", "solve -bugdet 4GiB net.csv"},
	{"error-flag-value", "solve -budget plenty net.csv"},
	{"error-bandwidth", "solve -bw 100Gb/s net.csv"},
	{"error-no-network", "solve -budget 4GiB"},
	{"error-two-networks", "solve -preset resnet50-b32 net.csv"},
	{"error-two-files", "solve net.csv negative.csv"},
	{"error-holes", "place -preset resnet101-b32 -budget 60%"},
	{"error-place-infeasible", "place -budget 100MiB net.csv"},
	{"error-allocator", "place -alloc worst-fit net.csv"},
	{"error-alloc-arg", "place -alloc va -alloc-arg order=any net.csv"},
	{"error-arg", "solve -strategy sequential -arg segments=many net.csv"},
	{"error-arg-unknown", "solve -arg colour=red net.csv"},
	{"error-batch-unknown", "batch -budget 1GiB odd.csv"},
	{"error-batch-list", "batch -preset vgg16 -batches 4,many"},
	{"error-batch-none", "batch -preset vgg16 -budget 100MiB -strategy keepall,greedy"},
	{"error-sweep-arg", "sweep -arg colour=red net.csv"},
	{"error-sweep-range", "sweep -budget 90%..30% net.csv"},
	{"error-no-file", "solve nowhere.csv"},
	{"error-line", "solve negative.csv"},
	{"error-lines", "solve - < twice.csv"},
	{"error-no-link", "solve -from https://example.org/"},
	{"error-cut-link", "solve -from '#v=1&m=60%25&d=1.bQFn1azs9'"},
	{"error-newer-link", "link -from '#v=99&p=vgg16-b32'"},
	{"error-infeasible", "solve -budget 100MiB net.csv"},
	{"error-infeasible-json", "solve -json -budget 100MiB net.csv"},
	{"error-no-chain", "solve -budget 1GiB -strategy rotor graph.json"},
	{"link-graph", "link graph.json"},
	{"error-export-format", "export -format yaml net.csv"},
	{"error-export-python", "export -format python -budget 1GiB -strategy keepall graph.json"},
	{"error-torch-file", "torch -budget 60% net.csv"},
	{"error-torch-infeasible", "torch -budget 1KiB operators.json"},
	{"error-torch-moves", "torch -strategy autoswap -budget 90% operators.json"},
	{"error-torch-strategy", "torch -strategy rottor operators.json"},
	{"error-torch-twice", "torch -budget 95% operators.json operators.json"},
	{"error-base", "link -base http://example.org/#x net.csv"},
	{"error-base-script", "link -base 'javascript:alert(1)//' net.csv"},
	{"error-theme", "svg -theme pink net.csv"},
	{"error-width", "svg -width 10 net.csv"},
	{"error-serve", "serve -dir nowhere"},
	{"error-serve-file", "serve net.csv"},
	{"note-link", "link -from 'v=1&p=vgg16-b32&m=60%25&bw=fast&future=1'"},
}

// TestGolden compares runs with the files of testdata/golden. Each file is a command line with its exit status
// and its output. With -update the test writes them anew.
func TestGolden(t *testing.T) {
	for _, c := range goldenRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir("testdata")
			o := memtide(t, t.Context(), words(c.line)...)
			got := fmt.Sprintf("$ memtide %s\nexit %d\n--- stdout\n%s--- stderr\n%s", c.line, o.code, o.stdout,
				o.stderr)
			file := filepath.Join("golden", c.name+".txt")
			golden.File(t, file, got)
			if wrong := strings.HasPrefix(c.name, "error-"); wrong != (o.code != cli.OK) {
				t.Errorf("memtide %s: exit status %d; want 0 unless it is an error", c.line, o.code)
			}
		})
	}
}

// TestGoldenFiles finds golden files that no case writes any more.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	cases := map[string]bool{}
	for _, c := range goldenRuns {
		cases[c.name] = true
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); !cases[name] {
			t.Errorf("%s belongs to no case; delete it", f)
		}
	}
}

// TestExamples runs every example of the help texts. They have to work in a folder that has net.csv and a built
// page.
func TestExamples(t *testing.T) {
	lines := map[string]string{}
	for _, c := range commands {
		if len(c.examples) == 0 {
			t.Errorf("memtide %s has no example", c.name)
		}
		for _, x := range c.examples {
			line, ok := strings.CutPrefix(x, "memtide ")
			if !ok || !strings.HasPrefix(line, c.name) || !strings.Contains(c.usage(), x) {
				t.Errorf("example %q of %s: want a command line of that command that its help shows", x, c.name)
			}
			lines[line] = "memtide " + c.name + " -h"
		}
	}
	files := t.TempDir()
	if err := os.CopyFS(files, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(files)
	for _, name := range []string{"before.json", "after.json"} {
		if err := os.Link("operators.json", name); err != nil {
			t.Fatal(err)
		}
	}
	buildSite(t, "dist")
	inOrder := slices.Sorted(maps.Keys(lines))
	slices.SortStableFunc(inOrder, func(a, b string) int { // commands that write a file come first
		return cmp.Compare(strings.Count(b, " -o "), strings.Count(a, " -o "))
	})
	for _, line := range inOrder {
		where := lines[line]
		args, ctx := words(line), t.Context()
		if args[0] == "serve" { // serve gets a free port and a context that is already cancelled
			args = append(args, "-addr", "127.0.0.1:0")
			stopped, cancel := context.WithCancel(ctx)
			cancel()
			ctx = stopped
		}
		if o := memtide(t, ctx, args...); o.code != cli.OK {
			t.Errorf("%s: memtide %s: exit status %d\n%s", where, line, o.code, o.stderr)
		} else if o.stdout == "" && !strings.Contains(line, " -o ") {
			t.Errorf("%s: memtide %s: it wrote nothing", where, line)
		}
	}
}

// TestNamesAreListed checks that every name that can be given is in its help text and in the error about a wrong
// name. These lists are not in golden files, so that a new name needs no change here.
func TestNamesAreListed(t *testing.T) {
	var presets, networks, strategies, formats, parameters []string
	for _, p := range preset.Presets() {
		presets = append(presets, p.ID)
		if p.Model() == nil {
			networks = append(networks, p.ID)
		}
	}
	for _, s := range engine.Strategies() {
		strategies = append(strategies, s.Name)
		for _, p := range s.Params {
			parameters = append(parameters, p.Name+"="+p.Default)
		}
	}
	for _, f := range profiles.Formats() {
		formats = append(formats, f.Title)
	}
	for line, names := range map[string][]string{
		"help presets":                        presets,
		"help devices":                        card.IDs(),
		"help strategies":                     append(parameters, strategies...),
		"help formats":                        formats,
		"solve -preset resnet99-b32":          networks,
		"solve -device abacus net.csv":        card.IDs(),
		"solve -strategy magic net.csv":       strategies,
		"sweep -strategy rotor,magic net.csv": strategies,
	} {
		t.Run(line, func(t *testing.T) {
			t.Chdir("testdata")
			o := memtide(t, t.Context(), words(line)...)
			text, want := o.stderr, cli.Usage
			if strings.HasPrefix(line, "help") {
				text, want = o.stdout, cli.OK
			}
			if o.code != want {
				t.Errorf("exit status %d, want %d", o.code, want)
			}
			for _, name := range names {
				if !strings.Contains(text, name) {
					t.Errorf("%q is not in:\n%s", name, text)
				}
			}
		})
	}
}

// TestJSONIsDocumented checks that memtide help json explains every field of the JSON output.
func TestJSONIsDocumented(t *testing.T) {
	text := jsonHelp
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous && name != "-" && (name == "" || !regexp.MustCompile(`[ (]`+name+`[ ,\n]`).MatchString(text)) {
				t.Errorf("%s.%s: the JSON field %q is not in memtide help json", typ.Name(), f.Name, name)
			}
			check(f.Type)
		}
	}
	for _, report := range []any{solveReport{}, sweepReport{}, batchReport{}, failureReport{}, planJSON{},
		llm.ScoreReport{}, pipelineJSON{}, doctorReport{}, comparisonReport{}, estimate{}, diffReport{}} {
		check(reflect.TypeOf(report))
	}
	for _, key := range waitingKeys {
		if key == "" {
			t.Error("a reason for waiting has no name in JSON")
		}
	}
}

// buildSite makes dir look like a folder with a built page.
func buildSite(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html><title>page</title>"),
		0o644); err != nil {
		t.Fatal(err)
	}
}
