// Package proto defines the messages between the page and its workers: plain values and their exact
// encoding. It is pure Go, so that the command line and the tests use it without a browser.
//
// # Conversation
//
// A worker handles one request at a time. It sends any number of progress replies, at most one per engine.ReportEvery
// for a solve and one per point for a sweep, and then exactly one final reply: a result or a failure. Cancelling is a
// message of package pool, which ends a worker that does not answer soon.
//
//	request   progress     result
//	Open      Progress     Opened: canonical profile, findings, totals
//	Solve     Solving      Solved: claims, measured trace, verdict, bounds
//	Sweep     Point        Swept; there is one Point per strategy and budget
//	Place     Progress     Placed: addresses, how memory is used, the request that failed
//	Question  Answer       Answered
//	Export                 Exported: a file for other programs
//	Doctor                 Examined: a report, what is alive, or a replay
//	Step      Stepped      Stepped: what a card holds, and what would change that
//
// Package serve says which program answers which request.
//
// # Types
//
// Every request names the types of its result and of its progress, so that the compiler checks the
// calls of Do. It declares them by embedding brings:
//
//	type Solve struct {
//		brings[*Solved, *Solving] // results in a *Solved, and reports *Solving on the way
//		...
//	}
//
//	solved, err := proto.Do(ctx, pool.Do, &proto.Solve{...}, func(s *proto.Solving) { ... })
//
// A new request also needs a place in Requests. Its type alone tells DecodeReply what to allocate for a reply.
//
// # Encoding
//
// The head of a message is JSON; large lists follow it as they lie in memory.
//
//	message  = "mtp1" raw columns           the head is JSON: the request with its name, or a reply with its value
//	columns  = what the method columns of the value writes:
//	raw      = count byte*                  a profile in native JSON, a file
//	rows     = count row*                   a list of structs without pointers
//	optional = 0 | 1 value
//	count    = uint32
//
// Times are nanoseconds, sizes are bytes. An empty list is decoded as nil. Both sides are always of the same build, so
// nothing is versioned except for the magic word. Decoding refuses what does not fit exactly.
package proto
