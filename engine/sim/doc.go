// Package sim gives schedules their meaning: Play runs one and returns a Trace.
//
// # The meaning of a schedule
//
// A schedule is a program. One counter walks its steps in order. Run and Wait hold the counter until they are over;
// the other steps take no time. There are three lanes: compute, device to host, host to device. On a half-duplex
// link the last two are one lane: a single queue, one transfer at a time. (Two more lanes are below.)
//
//	Run(op)         starts when every input is whole on the device and there is
//	                room for all its outputs and its temporaries beside everything
//	                that is there. Outputs are fresh copies (an output-only run writes
//	                Op.OutputOnly instead of Op.Out). A run by the second algorithm (Alt) takes
//	                the time and the temporaries of Op.Alt instead of the operation's own; every
//	                run of an operation chooses its algorithm. At its end the temporaries leave,
//	                and so do an older copy of an output and separate copies of
//	                values within an output (a^k is merged into abar^k).
//	Offload(v)      queues a copy of the device's v to the host. The device copy
//	                stays, and stays readable, until it is freed.
//	Fetch(v, t)     queues a copy of v to the device that starts no earlier than
//	                the absolute time t. It needs a complete host copy, so it waits
//	                for an offload of v that is queued or under way. It takes its
//	                room when it starts; v can be read when it ends. With Reserve
//	                it takes its room when the counter reaches it, and holds the
//	                counter until there is room.
//	Free(v)         later steps cannot use the device's v. Its bytes leave when the
//	                offload of v that is queued or under way ends, or at once if
//	                there is no such offload.
//	Wait(v)         holds the counter until no transfer of v is queued or under way.
//
// Two more lanes run operations, where a graph has them (engine.Op.Lane): the network and the host's CPU. A Run of
// such an operation queues it, and the counter goes on.
//
//	network         reads and writes copies on the device. An input must be there or on
//	                its way when the counter reaches the step: the run reads that copy
//	                and starts when the copy is whole. Outputs and temporaries take their
//	                room when the run starts; outputs can be read when it ends.
//	CPU             reads and writes copies on the host, and nothing on the device. It
//	                starts when the host copies that existed or were on their way when the
//	                counter reached the step are complete. Its outputs can be fetched once
//	                it has ended.
//
// An output of another lane must not be on the device or on its way there. An output of the CPU must not be on the
// host either. Fetch, Wait, Free and runs treat an output of the network like a value that is being fetched, and an
// output of the CPU like a value that is being offloaded. A copy that a queued or running operation of the network
// reads may be freed: its bytes leave when the operation ends. Op.After orders operations in every lane without
// data: the named operations must have run or be queued before the step, and must have ended when the operation
// starts. Runs of other lanes count neither as compute nor as recompute time.
//
// Each lane but compute is first in, first out: its head blocks the transfers behind it. A transfer that has
// started is not interrupted. A transfer of s bytes lasts s divided by the rate, rounded up. A transfer of no bytes
// is over at once.
//
// A reader of a value may read the value's own copy, or a copy of a value that contains it (a reader of a^k may
// read abar^k).
//
// An unsaved output (engine.Stage.Unsaved) is a part of no other value. A run of F^k then writes two copies, abar^k
// and a^k, and an output-only run writes a^k alone. F^{k+1} reads a^k's own copy, and neither B^k nor B^{k+1} reads
// it. This needs no rule of its own, since it follows from what the operations read and write. So a^k may be freed
// once F^{k+1} has read it, while abar^k stays, as in plain training. F^{k+1} cannot run again from abar^k, only
// from an a^k that was kept or is computed again.
//
// Whole transfers hold the room of the whole value: a fetch from its start, an offload of a freed value until its
// end. Graphs with operations of other lanes allow whole transfers only. Streamed transfers move room byte by byte,
// rounded down. A streamed fetch takes room as bytes arrive and stands still while there is no room. The bytes of a
// freed value leave as they are copied; those copied before Free leave at Free. In full duplex a fetch without room
// moves as fast as an offload makes room.
//
// At one instant ends and releases come first. Then the counter goes as far as it can. Then each lane starts at
// most one transfer or operation, in the order of the steps. This repeats until nothing changes, and only then does
// time move on. So releases precede acquisitions, and computations precede transfers.
//
// The peak is the largest amount in use after any acquisition, resident memory included, even if it is used for no
// time. The step time is when the last run and the last transfer have ended.
//
// Play refuses a schedule with a *StepError if a step cannot be carried out whatever the budget:
//
//   - a run has an input that is neither on the device nor on its way
//   - an offload or a free names a value that is not on the device
//   - a fetch names a value that the host does not have, or that the device has
//   - an operation of another lane has an input that does not exist, or an output that exists already
//   - an operation comes after one that has not run (Op.After)
//   - the operation has no output-only run, or no second algorithm
//   - a run or a transfer would end after 292 years, the range of a time.Duration
//
// Play refuses a schedule with a *StuckError if it does not fit into the budget or deadlocks: the counter is held,
// nothing runs or moves, and no earliest start is to come.
//
// All time in which the compute lane stands still is divided into Gaps, each with one reason and a cause, so that
// compute + recompute + waiting = step time.
//
// An offloaded value takes pinned host memory from the start of the offload to the end of the value's last fetch, or of
// the step if no fetch follows. An output of the CPU takes it from the start of the operation, and an input of the CPU
// keeps it to the end of the step. Values that are on the host when the step begins are not counted. A value that was
// fetched counts as an activation in the picture of memory, even if it had been recomputed before it left.
//
// # Why a program with one counter
//
// Five papers describe schedules in five ways: sequences of operations (002), sets with closed-form times (000),
// recursions (001), issue rules (003), lists per function (004). A counter that walks Run, Free, Offload, Fetch and
// Wait expresses all of them, and the vectors of the papers' models (75 simulated sequences, over 100 optimal ones,
// 69 offload sets whole and streamed, 225 vDNN schedules, 144 window schedules) play to exactly the expected times
// and peaks. This took three decisions. Offload copies and Free frees, since 004 releases a swapped-out value only
// at a wait, and 000 as soon as the copy and its readers are done: two steps express both. A fetch takes its room
// when it starts or, with Reserve, when the counter reaches it: 000 and 003 reproduce with the first rule, 004's
// peaks only with the second, because its allocator runs when the copy is queued. And a fetch has an earliest
// start, for the reason below.
//
// # Where this departs from the papers
//
// Paper 000's Proposition 1 starts everything as early as possible. That is right for computations and offloads,
// but an early fetch takes room that the computations before it need, and can deadlock; so a fetch has an earliest
// start, and methods place it as late as the plan allows. Runs may then start earlier than planned, which never
// delays anything: a fetched value is in the plan's memory for every run after the fetch's planned start anyway
// (verified with over 500,000 random plans during development, and hundreds in every test run).
package sim
