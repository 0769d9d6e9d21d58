// Package alloc places the buffers of a training step at addresses. Where the
// bytes lie decides whether a step that needs no more than the budget in total
// also fits: free memory in several holes does not serve one large request.
//
// Requests are what is asked for, in order: from a trace, from a list of events
// or from a list of lives. An Allocator turns them into a Layout; Check says
// whether a layout is one, without sharing code with any allocator.
//
// Paper 003 is Shriram, Garg and Kulkarni (vDNN++, doi:10.1109/IPDPS.2019.00030),
// paper 004 Hayakawa and Narihira (arXiv:2010.14109). The rules of the exact
// search are those of Moffitt's MiniMalloc (doi:10.1145/3623278.3624752).
package alloc
