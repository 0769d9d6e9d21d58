// Package export writes a schedule as a JSON file for other programs (File.JSON). For PyTorch there are the plans
// of package play.
//
// # JSON
//
// The schema is "memtide-schedule/1". Fields end in their unit; they are only added to, never renamed. All numbers
// are whole.
//
//	schema             "memtide-schedule/1"
//	name               of the network
//	strategy, args     the strategy that found the schedule; args without defaults
//	transfers          whole or streamed
//	device             name, memory_bytes, to_host_bytes_per_s,
//	                   to_device_bytes_per_s, duplex (half or full)
//	budget_bytes       device memory that may be used
//	step_time_ns, peak_bytes, host_peak_bytes
//	                   as the simulator measures them; not read
//	chain              of a chain: batch, input_bytes, input_grad_bytes,
//	                   seed_born, and resident: weights_bytes, grads_bytes,
//	                   optimizer_bytes, pinned_bytes
//	stages             of a chain, in order; the last one is the loss, unless
//	                   seed_born: name, kind, forward_ns, backward_ns,
//	                   output_bytes, saved_bytes (with the output), output_unsaved (no
//	                   backward reads the output, and saved_bytes is without it), grad_bytes,
//	                   forward_temp_bytes, backward_temp_bytes, and fast, a second
//	                   algorithm: forward_ns, backward_ns, forward_temp_bytes,
//	                   backward_temp_bytes
//	graph              of other networks: fixed_bytes, stages, done (a value; empty:
//	                   the step is over when every operation has run)
//	values             of a graph: name, kind (activation, gradient, weight), bytes,
//	                   stage, initial (a list of device, host), within (a value)
//	ops                of a graph: name, pass (forward, backward), stage, time_ns,
//	                   temp_bytes, in, out, lean (lists of values), and alt, a second
//	                   algorithm: time_ns, temp_bytes
//	steps              the schedule, see below
//
// The stages of a chain are numbered from 1. The values of stage 3 are a3 (its output), s3 (its saved activations,
// which contain a3 unless a3 is unsaved) and d3 (the gradient of a3). a0 is the input of the chain. The operations
// of stage 3 are F3 and B3. The values and operations of a graph are called v0, v1, ... and o0, o1, ..., in the
// order of their lists.
//
// A step is one of
//
//	{"do":"run", "op":"F3"}        run an operation; with "lean":true it keeps only
//	                               the output, with "alt":true it takes the second algorithm
//	{"do":"free", "value":"s3"}    release the device's copy, at once or when its
//	                               offload that is under way has ended
//	{"do":"offload", "value":"s3"} queue a copy to the host
//	{"do":"fetch", "value":"s3"}   queue a copy to the device; it starts no earlier
//	                               than "not_before_ns"; with "reserve":true it takes
//	                               its room now, otherwise when it starts
//	{"do":"wait", "value":"s3"}    wait until no transfer of the value is under way
//
// Package sim defines what the steps mean.
package export
