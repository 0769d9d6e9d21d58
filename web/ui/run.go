package ui

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/web/permalink"
	"memtide/web/state"
)

// Run is the code that runs a plan of the chosen kind, in the memory that is left to it,
// on the model that a person has.
type Run struct {
	S    *state.State
	Page *permalink.Page
}

// RunCode is the ID of the code.
const RunCode = "run-code"

// The words of it, in one place.
const (
	wordsRun    = "Run this"
	wordsHowRun = "How it runs"
	wordsNoGPU  = " Losses and gradients equal those of the model without it, bit by bit, on the CPU with PyTorch 1.13 and 2.6, and on an H200 with 2.11 where the model itself gives the same twice."
	wordsRunOn  = "six lines of Python on your model as it is"
	wordsClass  = "A plan of class %s: %s. memtide torch looks for the fastest one in the %s that weights, gradients and optimizer leave of the budget; its times and sizes are those of your model, not of this page."
	wordsHere   = " The open file holds your model's operators: the plan can be found here."
	wordsSave   = "Save plan.json"

	// FindingPlan is the note while a plan is looked for.
	FindingPlan = "Looking for a plan…"

	// CodeCopied is the note when it is in the clipboard.
	CodeCopied = "Code copied."
)

// room returns what the budget leaves to a step, rounded down to what the code says.
func (c *Run) room() (b engine.Bytes, text string) {
	n := c.S.Network
	if n == nil {
		return 0, ""
	}
	b = c.S.Budget() - n.Totals.Resident
	if b >= engine.GiB {
		return b, fmt.Sprintf("%d.%dGiB", b/engine.GiB, b%engine.GiB*10/engine.GiB)
	}
	return b, fmt.Sprintf("%dMiB", b/engine.MiB)
}

// Absent reports whether there is nothing to run: no network of layers, or no room for a step.
func (c *Run) Absent() bool {
	b, _ := c.room()
	return c.S.Memory != nil || b < engine.MiB
}

// Line says what it is.
func (c *Run) Line() string { return wordsRunOn }

// deedsOf say what plans of a class do.
var deedsOf = map[play.Class]string{
	play.ClassUnit:      "blocks run again, each by itself",
	play.ClassWrappable: "runs of blocks run again, each as a whole",
	play.ClassOffload:   "blocks run again, or what they keep goes to the host",
	play.ClassNested:    "runs of blocks run again, and within them runs are dropped again",
}

// Does says what the code does, and what of the plan that is shown it does not.
func (c *Run) Does() string {
	class := play.Class(c.S.Choice.PlanClass())
	_, room := c.room()
	text := fmt.Sprintf(wordsClass, class, deedsOf[class],
		strings.Replace(strings.Replace(room, "G", " G", 1), "M", " M", 1))
	if c.S.HasOperators() {
		text += wordsHere
	}
	return text + wordsNoGPU
}

// Code returns what to type, in Python but for one line of a shell.
func (c *Run) Code() string {
	class := play.Class(c.S.Choice.PlanClass())
	_, room := c.room()
	how := string(class)
	if class == play.ClassOffload {
		how += " -link " + strings.ReplaceAll(c.S.Choice.ToHost.Text(), " ", "")
	}
	return fmt.Sprintf(`import memtide_torch as mt          # one file that needs PyTorch alone
graph = mt.collect(model, args)     # args: a tuple of what the forward takes; kwargs=, loss= too
graph.save("net.json")
# in a shell:  memtide torch -class %s -budget %s -o plan.json net.json
print(graph.play(mt.load_plan("plan.json")).peak)   # predicted, before anything runs
handle = mt.apply(model, "plan.json")               # the training loop stays; handle.remove() ends it
`, how, room)
}

// Docs returns the address of a file of the documentation.
func (c *Run) Docs(file string) string { return c.Page.Docs() + file }
