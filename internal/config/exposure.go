package config

import (
	"fmt"
	"strings"
)

// CheckExposure answers an error when a Kafka listener without authentication,
// or a door (by its key), would be reachable from other machines. The error
// says how to fix it.
func CheckExposure(listeners []Listener, doors map[string]Address) error {
	var open []string
	fix := make([]string, 0, 2)
	local := make([]string, 0, len(listeners))
	for _, l := range listeners {
		if !strings.HasPrefix(l.Protocol, "SASL_") && !IsLoopback(l.Host) {
			open = append(open, fmt.Sprintf("listener %s on %s", l.Name, l.Host))
		}
		local = append(local, fmt.Sprintf("%s://%s:%d", l.Name, Loopback, l.Port))
	}
	if len(open) > 0 {
		fix = append(fix, "--set listeners="+strings.Join(local, ","))
	}
	for _, key := range sortedKeys(doors) {
		if a := doors[key]; !a.Off && !IsLoopback(a.Host) {
			open = append(open, fmt.Sprintf("%s on %s", key, a.Host))
			fix = append(fix, fmt.Sprintf("--set %s=%s:%d", key, Loopback, a.Port))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("anybody who reaches this machine could read and delete everything: no authentication on %s.\n"+
		"To listen on this machine only:   %s\n"+
		"To open it all the same:          --insecure-no-auth", strings.Join(open, ", "), strings.Join(fix, " "))
}
