// Package check proves or refutes traces. It is the second opinion on what package sim says: it knows the meaning
// of a schedule (see package sim) but shares no code with the player, only the types of a Trace.
//
// Trace reads a trace as a certificate and follows it: the starts and ends of the spans are taken from the trace,
// everything else is derived from them and from the schedule, and compared.
//
// # What is proven for whole transfers
//
// Everything. Every run and every transfer of the schedule has one span of the right length, in the right lane, in
// the order of the schedule, and reads data that is there. Nothing starts before the rules allow it, and nothing
// later: at every instant at which something could have started, it did. Memory is within the budget and equal to
// the samples before and after every instant, by category, even if it is used for no time. The peak, the step time,
// host memory, lives, gaps with their reasons and causes, the totals, the decisions and the causes of the spans
// follow from that. The step is complete. No backward operation runs twice, and no other operation that must not
// (engine.Op.Once). Unsaved outputs need no rule of their own: every run reads copies that hold its inputs.
//
// # What is proven for streamed transfers
//
// The same, with a tolerance where bytes under way decide. A fetch that nothing held up is exact to the byte. For a
// fetch that stood still or was throttled for lack of room, the checker recomputes the progress from the room that the
// other values left to it: at full speed, or as far as there is room. Each time this happens, the progress may shift by
// the bytes that the link moves in two nanoseconds and by two bytes. The room, the samples, the peak and the end of
// that fetch are proven within the sum of these shifts. While bytes move in both directions, a run that starts late for
// lack of two bytes is not refuted. Between samples, bytes in transfer are compared with the line between them, within
// two bytes and the bytes that the link moves in a nanosecond. The samples themselves never exceed the budget.
//
// # What is not proven
//
// That the schedule is a good one. If several causes end at the same instant, any of them is accepted. Within one
// instant, the samples must be states that occur, in their order, and must include the first, the last and the
// largest; those between may be left out. Host memory that lasts for one instant only is not compared.
package check
