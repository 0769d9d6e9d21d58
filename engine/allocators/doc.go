// Package allocators holds the allocators of engine/alloc, one per file, which register themselves there.
//
// Paper 003 is Shriram, Garg and Kulkarni (vDNN++, doi:10.1109/IPDPS.2019.00030), paper 004 Hayakawa and Narihira
// (arXiv:2010.14109). The rules of the exact search are those of Moffitt's MiniMalloc (doi:10.1145/3623278.3624752).
package allocators
