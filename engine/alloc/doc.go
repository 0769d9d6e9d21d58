// Package alloc places the buffers of a training step at addresses. Where the
// bytes lie decides whether a step that needs no more than the budget in total
// also fits: free memory in several holes does not serve one large request.
//
// Requests are what is asked for, in order: from a trace, from a list of events
// or from a list of lives. An Allocator turns them into a Layout; Check says
// whether a layout is one, without sharing code with any allocator.
//
// Vidal et al. is paper 003 (vDNN++), Yoo et al. paper 004 (virtual addressing
// with chunks) of the project's list; Moffitt's MiniMalloc
// (doi:10.1145/3623278.3624752) is where the rules of the exact search come from.
package alloc
