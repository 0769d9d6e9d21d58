// Package check proves or refutes traces. It is the second opinion on what
// package sim says: it knows the meaning of a schedule (see package sim) but
// shares no code with the player, only the types of a Trace.
//
// Trace reads a trace as a certificate and follows it: the starts and ends of
// the spans are taken from the trace, everything else is derived from them and
// from the schedule, and compared.
//
// # What is proven for whole transfers
//
// Everything. Every run and every transfer of the schedule has one span of the
// right length, in the right lane, in the order of the schedule, and reads data
// that is there. Nothing starts before the rules allow it, and nothing later:
// at every instant at which something could have started, it did. Memory is
// within the budget and equal to the samples before and after every instant, by
// category, also while it is used for no time. The peak, the step time, host
// memory, lives, gaps with their reasons and causes, the totals, the decisions
// and the causes of the spans follow from that. The step is complete, and no
// backward operation runs twice.
//
// # What is proven for streamed transfers
//
// The same, with one exception. A fetch that nothing held up is exact to the
// byte. A fetch that stood still or was throttled for lack of room has its
// progress recomputed from the room that the rest left to it; every moment at
// which that happens may shift it by what the link moves in two nanoseconds,
// and by two bytes. Room, samples, peak and the end of that fetch are proven
// within this tolerance, and the budget is held by the samples exactly.
//
// # What is not proven
//
// That the schedule is a good one; and of several causes that end at the same
// instant, which one the trace names.
package check
