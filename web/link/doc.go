// Package link writes and reads permalinks: everything that decides what the
// page shows, in the fragment of its address. Nothing of a fragment is ever
// sent to a server.
//
//	#v=1&p=resnet101-b32&m=12GiB&s=rotor&bw=12.5GBps
//	#v=1&m=60%25&s=greedy&d=1.<base64url>
//
// What can be said of a choice is the table choice.Fields, how it is looked at the
// table Look.fields; docs/links.md lists both, and v, sum, d and b.KEY besides.
//
// Links are written by hand, too: order and case do not matter when reading, an
// unknown key is kept, and a bad value drops only itself, with a note that says
// so. Writing is canonical: fixed order, only what differs from the defaults. A
// blob stands last, because what cuts a link cuts its end, and a blob knows its
// own length.
package link
