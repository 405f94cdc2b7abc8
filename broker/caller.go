package broker

import "net/netip"

// Caller says who asks. An edge makes one per connection and passes it to every verb; verbs never change it.
type Caller struct {
	// Principal is the authenticated name, such as "User:alice"; "User:ANONYMOUS" on a listener without authentication.
	Principal string
	// ClientID is the client.id of the last request.
	ClientID string
	// SoftwareName and SoftwareVersion are what the client told in ApiVersions (KIP-511); empty for old clients.
	SoftwareName, SoftwareVersion string
	// Listener is the name of the listener the connection came in through.
	Listener string
	// Addr is the peer's address; the zero Addr for connections within the process.
	Addr netip.Addr
}
