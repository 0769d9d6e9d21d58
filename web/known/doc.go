// Package known is what workers have told: networks that were read, schedules that were
// found for them, where their bytes lie, and what is known about a recording, as values
// that know what follows from them. They know neither who asked nor who looks at them.
package known
