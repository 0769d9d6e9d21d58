// Package proto is the language between the page and its workers: plain values
// and their exact encoding. It is pure Go, so that the command line and the
// tests speak it without a browser.
//
// # Conversation
//
// A worker has one request at a time. It answers with any number of progress
// replies, at most one per engine.ReportEvery for a solve and one per point for
// a sweep, and then with exactly one result or failure. There is no message to
// cancel: a busy worker would not read it, so the page ends the worker.
//
//	open   a file's bytes or a preset -> Opened: canonical profile, findings, totals
//	solve  a network, a device, a budget, a strategy
//	       -> progress: Progress, with the best so far as Solved
//	       -> result: Solved: claims, measured trace, verdict, bounds
//	sweep  the same with many strategies and budgets
//	       -> progress: Point, one per strategy and budget
//	       -> result: Swept
//	place  a schedule of a network, or buffers, a pool, an allocator
//	       -> progress: Progress
//	       -> result: Placed: addresses, how memory is used, the request that failed
//	export a schedule of a network, a form; only the second program answers
//	       -> result: Exported: the file
//	doctor a file with a recording, a part; only the second program answers
//	       -> result: Examined: a report, what is alive, or a replay
//	step   a language model, what is chosen about its training step; only the second program answers
//	       -> progress: Stepped, each time with more
//	       -> result: Stepped: what a card holds, and what would change that
//
// # Encoding
//
// What people could read is JSON; arrays are columns of little-endian integers.
//
//	message  = "mtp1" head-length head profile? blob*
//	head     = JSON of Request or Reply; "profile" is the length of the profile,
//	           "blobs" lists those of the blobs
//	profile  = native JSON of the network: of a request for one, or as it was read
//	blob     = request: the file's bytes, of open and doctor; or schedule, buffers;
//	           or schedule
//	           reply: schedule, trace; or placed; or buffers, placed;
//	           or the exported file's bytes
//	           (in this order, only where there is one)
//	trace    = scalar* table*           (see (*codec).trace for the order)
//	schedule = table
//	buffers  = tick zero rows names     (see encodeBuffers)
//	placed   = rows rows                (see encodePlaced)
//	table    = row-count column*
//	column   = value*                   one per row, all of one width
//	head-length, row-count = uint32
//	scalar, value = 1, 4 or 8 bytes, two's complement
//
// Times are nanoseconds, sizes are bytes. An empty array is decoded as nil.
// Both sides are always of the same build, so nothing is versioned except for
// the magic word, and decoding refuses whatever does not fit exactly.
package proto
