package node

import (
	"fmt"
	"slices"
	"strings"
)

// The roles a process can have.
const (
	roleBroker   = "broker"
	roleRegistry = "registry"
	roleGateway  = "gateway"
)

// Roles are the roles that exist, in the order they start.
var Roles = []string{roleBroker, roleRegistry, roleGateway}

// checkRoles refuses roles that do not exist.
func checkRoles(roles []string) error {
	for _, r := range roles {
		if !slices.Contains(Roles, r) {
			return fmt.Errorf("there is no role %q; the roles of this build are: %s", r, strings.Join(Roles, ", "))
		}
	}
	return nil
}

func (p *process) has(role string) bool {
	return len(p.opts.Roles) == 0 || slices.Contains(p.opts.Roles, role)
}
