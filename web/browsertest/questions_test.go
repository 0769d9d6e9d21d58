//go:build !js

package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// look writes a picture of the page into the directory named by MEMTIDE_SHOTS.
func look(t *testing.T, p *Page, name string) {
	t.Helper()
	if dir := os.Getenv("MEMTIDE_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Shot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Questions are answered when they are asked, and what an answer found is used by
// a click.
func TestQuestions(t *testing.T) {
	p := settledPage(t, "")
	p.Click(`[data-testid="questions"]`)
	p.Wait(`document.querySelectorAll('.question [data-do="ask"]:not([hidden])').length === 4`, 5*time.Second)
	answered := func(name string) string {
		t.Helper()
		Eval[bool](p, `document.querySelector('[data-do="ask"][data-arg="`+name+`"]').click(); true`)
		p.Wait(`document.querySelector('[data-testid="question-`+name+`"] .working').hidden && document.querySelector('[data-testid="question-`+name+`"] .answer').textContent`, time.Minute)
		return p.Text(`[data-testid="question-` + name + `"] .answer`)
	}
	if got := answered("smallest"); !strings.Contains(got, "GiB are enough for at most 10 % more") {
		t.Errorf("the smallest budget: %q", got)
	}
	if got := answered("help"); !strings.HasPrefix(got, "Most: ") {
		t.Errorf("what would help: %q", got)
	}
	if got := answered("links"); !strings.Contains(got, "is faster than Optimal recomputation") {
		t.Errorf("the bandwidth: %q", got)
	}
	p.Wait(`byID("reply-links").querySelector("canvas")`, 5*time.Second)
	if got := answered("batch"); !strings.Contains(got, "trains a batch of up to") {
		t.Errorf("the batch: %q", got)
	}
	if os.Getenv("MEMTIDE_SHOTS") != "" {
		p.Viewport(1440, 1100)
		Eval[bool](p, `document.querySelector(".questions").scrollIntoView(); true`)
		time.Sleep(time.Second)
		look(t, p, "questions")
		Eval[bool](p, `document.querySelector('[data-do="theme"]').click(); document.querySelector('[data-do="theme"]').click(); true`)
		time.Sleep(time.Second)
		look(t, p, "questions-dark")
		p.Viewport(390, 3000)
		time.Sleep(time.Second)
		Eval[bool](p, `document.querySelector(".questions").scrollIntoView(); true`)
		time.Sleep(time.Second)
		look(t, p, "questions-390")
		p.Viewport(1280, 900)
	}
	p.Click(`[data-testid="question-smallest"] [data-do="use-answer"]`)
	p.Wait(untilReady+` && document.querySelector('[data-testid="question-help"] .answers').textContent === ""`, 20*time.Second)
	p.Quiet()
}
