// Package export writes a schedule as a JSON file for other programs (File.JSON), of the schema that
// docs/run-a-schedule.md describes. Its fields are only added to, never renamed. For PyTorch there are the plans of
// package play, and package sim defines what the steps mean.
package export
