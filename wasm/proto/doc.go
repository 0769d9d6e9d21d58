// Package proto is the language between the page and its workers: plain values
// and their exact encoding. It is pure Go, so that the command line and the
// tests speak it without a browser.
//
// # Conversation
//
// A worker has one request at a time. It answers with any number of replies that tell how
// far it is, at most one per engine.ReportEvery for a solve and one per point for a sweep,
// and then with exactly one that ends it: with a result, or with a failure. What a request
// tells and what it results in are types that stand with it, so that Do is checked by the
// compiler. There is no message to cancel: a busy worker would not read it, so the page ends
// the worker.
//
//	request   tells        results in
//	Open      Progress     Opened: canonical profile, findings, totals
//	Solve     Solving      Solved: claims, measured trace, verdict, bounds
//	Sweep     Point        Swept; there is one Point per strategy and budget
//	Place     Progress     Placed: addresses, how memory is used, the request that failed
//	Question  Answering    Answered
//	Export                 Exported: a file for other programs
//	Doctor                 Examined: a report, what is alive, or a replay
//	Step      Stepped      Stepped: what a card holds, and what would change that
//
// Which program answers which is said by package serve.
//
// # Encoding
//
// What people could read is JSON; arrays are columns of little-endian integers.
//
//	message  = "mtp1" head-length head columns
//	head     = JSON of the request with its name, or of a reply with what it brings
//	columns  = what the value's method columns says, in its order:
//	raw      = length byte*             a profile in native JSON, a file
//	optional = 0 | 1 value
//	trace    = scalar* table*           (see (*codec).trace for the order)
//	schedule = table
//	buffers  = tick zero rows names     (see (*codec).buffers)
//	placed   = rows rows
//	table    = row-count column*
//	column   = value*                   one per row, all of one width
//	head-length, length, row-count = uint32
//	scalar, value = 1, 4 or 8 bytes, two's complement
//
// Times are nanoseconds, sizes are bytes. An empty array is decoded as nil.
// Both sides are always of the same build, so nothing is versioned except for
// the magic word, and decoding refuses whatever does not fit exactly.
package proto
