// Package link writes and reads permalinks: everything that decides what the
// page shows, in the fragment of its address. Nothing of a fragment is ever
// sent to a server.
//
//	#v=1&p=resnet101-b32&m=12GiB&s=rotor&bw=12.5GBps
//	#v=1&m=60%25&s=greedy&d=1.<base64url>
//
//	v     version of the link, 1      sum checksum of the settings, of links that a program wrote (see Sealed)
//	p     preset and batch size       d  a whole profile (see Blob)      u  reserved for an address
//	kind  chain or graph: how a network that is both is taken; memory: a file about addresses (a blob holds chains only)
//	dev   device by name              m  budget: bytes with a unit, or per cent of keeping everything
//	s     strategy                    s.NAME  a parameter of the strategy
//	bw    bandwidth, both directions; bwd  device to host, where it differs
//	duplex half or full               xfer  whole or streamed transfers
//	c     lines of the curve: names with commas, all or none      y  slowdown, time or rate
//	alloc allocator of the address view, which is open            alloc.NAME  a parameter of it
//	at    the moment in ms that its map shows
//	t     visible range in ms         sel   what is selected, by what it is: B18, s17@h2d, wait@412
//	open  what is unfolded: lines,questions,layers,table          chain 1: the critical chain is shown
//	slow  slowdown that the smallest budget may cost, in per cent
//	show  parts of the page and their order: strip,time,mem,curve,addr,table
//	b.*   side B of a comparison: b.p b.d b.kind b.dev b.m b.s b.s.NAME b.bw b.bwd b.duplex b.xfer, what differs from A
//	title text for the tab            theme light or dark
//	embed 1: a view in another page   controls  budget: with a slider
//
// Links are written by hand, too: order and case do not matter when reading, an
// unknown key is kept, and a bad value drops only itself, with a note that says
// so. Writing is canonical: fixed order, only what differs from the defaults. A
// blob stands last, because what cuts a link cuts its end, and a blob knows its
// own length.
package link
