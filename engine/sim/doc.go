// Package sim gives schedules their meaning: Play runs one and returns a Trace.
//
// # The meaning of a schedule
//
// A schedule is a program. One counter walks its steps in order. Run and Wait
// hold the counter until they are over; the other steps take no time. There are
// three lanes: compute, device to host, host to device. On a half-duplex link
// the last two are one lane: a single queue, one transfer at a time. (Two more lanes
// are below.)
//
//	Run(op)         starts when every input is whole on the device and there is
//	                room for all its outputs and its temporaries beside everything
//	                that is there. Outputs are fresh copies (an output-only run writes
//	                Op.OutputOnly instead of Op.Out). A run by the second algorithm (Alt) takes
//	                the time and the temporaries of Op.Alt instead of the
//	                operation's own; every run of an operation, output-only or not, first
//	                or again, chooses for itself. At its end the temporaries leave,
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
//	                offload of v that is queued or under way ends, at once if there
//	                is none.
//	Wait(v)         holds the counter until no transfer of v is queued or under way.
//
// Two more lanes run operations, where a graph has them (engine.Op.Lane): the network
// and the host's CPU. A Run of such an operation queues it, and the counter goes on.
//
//	network         reads and writes copies on the device. An input has to be there or
//	                on its way when the counter gets to the step: the run reads that copy
//	                and starts when it is whole. Outputs and temporaries take their room
//	                when it starts; outputs can be read when it ends.
//	CPU             reads and writes copies on the host, and nothing on the device. It
//	                starts when the host copies that were there or on their way at the
//	                step are complete; then its outputs can be fetched once it has ended.
//
// An output of another lane must not be on the device or on its way there, nor one of
// the CPU on the host. To Fetch, Wait, Free and to runs an output of the network is
// like a value that is being fetched, and one of the CPU like a value that is being
// offloaded. A copy that a queued or running operation of the network reads may be
// freed: its bytes leave when that has ended. Op.After is an order beside the data, in
// every lane: what it names must have run, or be queued, before the step, and have ended when the
// operation starts. Runs of other lanes are neither compute nor recompute time.
//
// Each lane but compute is first in, first out: its head blocks what is behind it. A
// transfer that has started is not interrupted. A transfer of s bytes lasts s
// divided by the rate, rounded up; one of no bytes is over at once.
//
// A value is served by its own copy or by one of a value that it is within (a
// reader of a^k may read abar^k).
//
// An unsaved output (engine.Stage.Unsaved) is a part of no other value. A run of
// F^k then writes abar^k and a^k, two copies, and an output-only run a^k alone; F^{k+1}
// reads a^k's own copy; neither B^k nor B^{k+1} reads it. Nothing of this is a rule
// of its own: it follows from what the operations read and write. So it may be freed
// once F^{k+1} has read it, which is what plain training does, while abar^k stays;
// and F^{k+1} cannot run again from abar^k, only from an a^k that was kept or is
// computed again.
//
// Whole transfers, which alone go with operations of other lanes, hold the room of the
// whole value from their start (fetch) and to their end (offload of a freed value).
// Streamed transfers move room byte by
// byte, rounded down: a fetch takes room as bytes arrive and stands still while
// there is none; the bytes of a freed value leave as they are copied, those
// copied before Free leave at Free. In full duplex a fetch without room moves as
// fast as an offload makes room.
//
// At one instant ends and releases come first, then the counter goes as far as
// it can, then the lanes start what they can, each at most one, in the order of the
// steps; this repeats until nothing changes, and only then does time move on. So releases precede acquisitions,
// and computations precede transfers.
//
// The peak is the largest amount in use after any acquisition, resident memory
// included, also when it is used for no time. The step time is when the last
// run and the last transfer have ended.
//
// A schedule is refused with a *StepError when a step cannot be meant: an input
// that is not on the device and not on its way, an offload or free of what is
// not there, a fetch of what the host does not have or the device has, an operation of
// another lane whose input is nowhere or whose output is there, one that comes after
// what has not run, an output-only
// run or a second algorithm where the operation has none, a run or a transfer that
// would end after 292 years, beyond what can be counted. It is
// refused with a *StuckError when it does not fit into the budget or deadlocks:
// the counter is held and nothing runs, moves or has an earliest start to come.
//
// Every moment on which the compute lane stands still is a Gap with one reason
// and a cause, so that compute + recompute + waiting = step time.
//
// Offloaded values lie in pinned host memory from the start of the offload to
// the end of the value's last fetch, or of the step if none follows; those that the
// CPU makes from its start, and those that it reads to the end of the step. Values that
// are on the host when the step begins are not counted. A value that was fetched
// counts as an activation in the picture of memory, even if it had been
// recomputed before it left.
//
// # Why a program with one counter
//
// Five papers describe schedules in five ways: sequences of operations (002), sets
// with closed-form times (000), recursions (001), issue rules (003), lists per
// function (004). A counter that walks Run, Free, Offload, Fetch and Wait expresses all
// of them, and the vectors of the papers' models (75 simulated sequences, over 100
// optimal ones, 69 offload sets whole and streamed, 225 vDNN schedules, 144 window
// schedules) play to exactly the expected times and peaks. Three things were decided
// for that. Offload copies and Free frees: in 004 a swapped-out value is released only
// at a wait, in 000 as soon as the copy and its readers are done, and two steps say
// both. A fetch takes its room when it starts or, with Reserve, when the counter
// reaches it: 000 and 003 reproduce with the first, 004's peaks only with the second,
// whose allocator runs when the copy is queued. And a fetch has an earliest start:
//
// # Where this departs from the papers
//
// Paper 000's Proposition 1 starts everything as early as possible. That is
// right for computations and offloads, but an early fetch takes room that the
// computations before it need, and can deadlock; so a fetch has an earliest
// start, and methods place it as late as the plan allows. Runs may then start
// earlier than planned, which never delays anything: a fetched value is in the
// plan's memory for every run after the fetch's planned start anyway (over 500,000
// random plans while this was built, and hundreds in every test run).
package sim
