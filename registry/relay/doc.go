// Package relay carries a request, which the replica that got it can't carry out, to the replica that can, and proves there on
// whose behalf it is. Both doors of the registry use it, and it alone knows how replicas speak with each other.
//
// A request is signed with a key of the registry's store (proof.go); the signature covers method, address, principal, time and
// body. One that was forwarded is never forwarded again: a replica that gets it and can't carry it out says that it has done
// nothing, and the first one asks again who can. The answer goes back to the caller as it is, status and headers included
// (reply.go), after this replica has replayed what was written: who asks it next sees that.
//
// The package has no goroutines.
package relay
