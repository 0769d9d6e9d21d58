package state

import "memtide/web/choice"

// Choice is what is chosen about the schedule of a side, Source its network.
type (
	Choice = choice.Choice
	Source = choice.Source
)
