package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// announce writes the addresses file and prints one line for each listener,
// then the line that begins with ready.
func (p *process) announce(took time.Duration) error {
	if err := p.writeAddresses(); err != nil {
		return err
	}
	var b strings.Builder
	for _, d := range p.bound {
		at := d.address()
		switch d.door {
		case "http", "registry":
			at = "http://" + at
		case "kafka":
			at += "  " + d.listener.Name
		}
		if len(d.sockets) > 1 {
			at += "  (and [::1])"
		}
		fmt.Fprintf(&b, "%-8s %s\n", d.door, at)
	}
	fmt.Fprintf(&b, "%-8s %s\n", "data", p.settings.broker.DataDir)
	fmt.Fprintf(&b, "ready in %d ms\n", took.Milliseconds())
	_, err := p.opts.Stdout.Write([]byte(b.String()))
	return err
}

// writeAddresses writes the addresses file in one step, so that a reader never
// sees half of it.
func (p *process) writeAddresses() error {
	path := p.opts.AddressesFile
	if path == "" {
		return nil
	}
	addresses := map[string]string{}
	for _, b := range p.bound {
		if addresses[b.door] == "" {
			addresses[b.door] = b.address()
		}
	}
	raw, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".addresses-*")
	if err != nil {
		return fmt.Errorf("addresses file: %w", err)
	}
	_, werr := tmp.Write(append(raw, '\n'))
	if cerr := tmp.Close(); werr == nil {
		werr = cerr
	}
	if werr == nil {
		werr = os.Rename(tmp.Name(), path)
	}
	if werr != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("addresses file: %w", werr)
	}
	return nil
}
