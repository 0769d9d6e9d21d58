package proto

import (
	"time"

	"memtide/engine"
	"memtide/web/choice"
)

// Question is what an Ask wants to know.
type Question string

// The questions.
const (
	// WhatHelps solves variants of the problem: more memory, a faster link, other
	// methods. One answer per variant.
	WhatHelps Question = "help"
	// Smallest looks for the smallest budget in which the method is at most
	// Slowdown slower than keeping everything. One answer.
	Smallest Question = "smallest"
	// Links solves the problem with every rate of Rates in both directions and
	// every method of Others. One answer per rate and method, rates inside methods.
	Links Question = "links"
	// LargestBatch looks, for every method of Others, for the largest batch that
	// trains in the budget, which has to be in bytes, and solves the batches of
	// Batches. One answer for the largest and one per batch, batches inside methods.
	LargestBatch Question = "batch"
)

// Ask is a question about a problem that takes several schedules to answer.
type Ask struct {
	Setting
	Method
	Budget   choice.Budget `json:"budget"`
	Question Question      `json:"question"`
	Others   []Method      `json:"others,omitempty"`
	Slowdown int           `json:"slowdown,omitempty"` // in hundredths of a per cent
	Rates    []engine.Rate `json:"rates,omitempty"`
	Batches  []int         `json:"batches,omitempty"`
	Limit    time.Duration `json:"limit,omitempty"` // per schedule; 0 is as long as it needs
}

// Answer is one answer of an Ask, and how many have been given.
type Answer struct {
	Index    int            `json:"index"`
	Name     string         `json:"name,omitempty"`      // of the variant, for people
	Strategy string         `json:"strategy"`            // the method
	Budget   engine.Bytes   `json:"budget"`              // that the schedule was solved for
	Device   *engine.Device `json:"device,omitempty"`    // of WhatHelps: the link, if the variant changes it
	Rate     engine.Rate    `json:"rate,omitempty"`      // of Links
	Batch    int            `json:"batch,omitempty"`     // of LargestBatch
	Largest  bool           `json:"largest,omitempty"`   // Batch is the largest that trains
	StepTime time.Duration  `json:"step_time,omitempty"` // measured; 0 if there is no schedule
	Peak     engine.Bytes   `json:"peak,omitempty"`
	Partial  bool           `json:"partial,omitempty"` // best so far when Limit passed; of a largest batch: a larger one is not ruled out
	Failure  *Failure       `json:"failure,omitempty"`
	Done     int            `json:"done"`
	Total    int            `json:"total"` // 0 if unknown
}

// Asked ends an Ask.
type Asked struct {
	Answers int `json:"answers"`
}
