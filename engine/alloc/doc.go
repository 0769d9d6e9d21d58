// Package alloc places the buffers of a training step at addresses. Where the
// bytes lie decides whether a step that needs no more than the budget in total
// also fits: free memory in several holes does not serve one large request.
//
// Requests are what is asked for, in order: from a trace, from a list of events
// or from a list of lives. An Allocator turns them into a Layout; Check says
// whether a layout is one, without sharing code with any allocator.
//
// The allocators are in engine/allocators: a program that places nothing leaves them out.
package alloc
