package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Loopback is the host a listener without a host is bound to: both 127.0.0.1
// and ::1.
const Loopback = "localhost"

// Listener is one entry of Kafka's `listeners`, with the security protocol
// that listener.security.protocol.map gives its name and the address that
// advertised.listeners gives it.
type Listener struct {
	Name     string // upper case: PLAINTEXT, or a name of the user's choice
	Protocol string // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	// Host is the address to bind: Loopback, a name, or an IP address.
	Host string
	// Port is 0 for a free port.
	Port int
	// AdvertisedHost and AdvertisedPort are what clients are told; an empty
	// host stands for the bound one, port 0 for the bound one.
	AdvertisedHost string
	AdvertisedPort int
}

// protocols are Kafka's security protocols.
var protocols = map[string]bool{"PLAINTEXT": true, "SSL": true, "SASL_PLAINTEXT": true, "SASL_SSL": true}

// ListenerTexts are the texts of the keys that describe the listeners.
type ListenerTexts struct {
	Listeners   string // listeners
	Advertised  string // advertised.listeners
	ProtocolMap string // listener.security.protocol.map
	// Controllers is controller.listener.names: listeners of Kafka's own
	// quorum, which does not exist here. They are left out.
	Controllers string
}

// ParseListeners reads Kafka's listener keys. `off` as the whole list, or an
// empty list, means no Kafka listener. The entries come back in the order
// they were written.
//
// A listener without a host ("PLAINTEXT://:9092") is bound to loopback, the
// default interface of this product; 0.0.0.0 and [::] stand for every
// interface, as in Kafka.
func ParseListeners(t ListenerTexts) ([]Listener, error) {
	if strings.EqualFold(strings.TrimSpace(t.Listeners), "off") {
		return nil, nil
	}
	byName, err := parseProtocolMap(t.ProtocolMap)
	if err != nil {
		return nil, fmt.Errorf("listener.security.protocol.map: %w", err)
	}
	controllers := map[string]bool{}
	for _, n := range splitList(t.Controllers) {
		controllers[strings.ToUpper(n)] = true
	}
	var out []Listener
	seen := map[string]bool{}
	for _, text := range splitList(t.Listeners) {
		name, host, port, err := parseEndpoint(text)
		if err != nil {
			return nil, fmt.Errorf("listeners: %w", err)
		}
		if controllers[name] {
			continue
		}
		if seen[name] {
			return nil, fmt.Errorf("listeners: the name %s stands twice", name)
		}
		seen[name] = true
		protocol, err := protocolOf(name, byName)
		if err != nil {
			return nil, fmt.Errorf("listeners: %w", err)
		}
		if host == "" {
			host = Loopback
		}
		out = append(out, Listener{Name: name, Protocol: protocol, Host: host, Port: port})
	}
	if err := advertise(out, t.Advertised, controllers); err != nil {
		return nil, fmt.Errorf("advertised.listeners: %w", err)
	}
	return out, nil
}

// advertise fills in what advertised.listeners says. An endpoint that is not
// named there advertises what it is bound to.
func advertise(ls []Listener, text string, controllers map[string]bool) error {
	for _, entry := range splitList(text) {
		name, host, port, err := parseEndpoint(entry)
		if err != nil {
			return err
		}
		if controllers[name] {
			continue
		}
		l := find(ls, name)
		if l == nil {
			return fmt.Errorf("%s is not among listeners", name)
		}
		if unspecified(host) {
			return fmt.Errorf("%s: clients cannot connect to %s; name a host or an address of this machine", name, host)
		}
		l.AdvertisedHost, l.AdvertisedPort = host, port
	}
	for _, l := range ls {
		if l.AdvertisedHost == "" && unspecified(l.Host) {
			return fmt.Errorf("listener %s is bound to every interface (%s), so clients must be told a host: "+
				"--set advertised.listeners=%s://<host of this machine>:%d", l.Name, l.Host, l.Name, l.Port)
		}
	}
	return nil
}

func find(ls []Listener, name string) *Listener {
	for i := range ls {
		if ls[i].Name == name {
			return &ls[i]
		}
	}
	return nil
}

// parseEndpoint reads NAME://host:port. The name comes back in upper case.
func parseEndpoint(text string) (name, host string, port int, err error) {
	name, rest, ok := strings.Cut(text, "://")
	if !ok || name == "" {
		return "", "", 0, fmt.Errorf("%q: want NAME://host:port", text)
	}
	host, port, err = splitHostPort(rest)
	if err != nil {
		return "", "", 0, fmt.Errorf("%q: %w", text, err)
	}
	return strings.ToUpper(name), host, port, nil
}

func splitHostPort(text string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, errors.New("want host:port, and an IPv6 address in brackets")
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q is no port (0 to 65535)", digits)
	}
	return host, int(n), nil
}

// parseProtocolMap reads NAME:PROTOCOL,...
func parseProtocolMap(text string) (map[string]string, error) {
	out := map[string]string{}
	for _, entry := range splitList(text) {
		name, protocol, ok := strings.Cut(entry, ":")
		if !ok {
			return nil, fmt.Errorf("%q: want NAME:PROTOCOL", entry)
		}
		name, protocol = strings.ToUpper(strings.TrimSpace(name)), strings.ToUpper(strings.TrimSpace(protocol))
		if !protocols[protocol] {
			return nil, fmt.Errorf("%q: Kafka's security protocols are PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL", entry)
		}
		out[name] = protocol
	}
	return out, nil
}

func protocolOf(name string, byName map[string]string) (string, error) {
	if p := byName[name]; p != "" {
		return p, nil
	}
	if protocols[name] {
		return name, nil
	}
	return "", fmt.Errorf("the listener name %s has no security protocol: add %s:PLAINTEXT to listener.security.protocol.map", name, name)
}

// Address is where a door other than Kafka's listens.
type Address struct {
	Off  bool
	Host string // Loopback when none was written
	Port int
}

// ParseAddress reads host:port, :port, a port alone, or `off`.
func ParseAddress(text string) (Address, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "off") {
		return Address{Off: true}, nil
	}
	if !strings.Contains(text, ":") {
		text = ":" + text
	}
	host, port, err := splitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q: %w", text, err)
	}
	if host == "" {
		host = Loopback
	}
	return Address{Host: host, Port: port}, nil
}

// String returns the text ParseAddress would read again.
func (a Address) String() string {
	if a.Off {
		return "off"
	}
	return net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
}

// IsLoopback reports whether a host can be reached from this machine only: the
// name localhost, or a loopback address.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, Loopback) {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// unspecified reports whether a host stands for every interface.
func unspecified(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsUnspecified()
}
