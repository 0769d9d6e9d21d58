// Package sim gives schedules their meaning: Play runs one and returns a Trace.
package sim
