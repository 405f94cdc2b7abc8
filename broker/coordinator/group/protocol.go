package group

// supports tells whether a member with these protocols can be in the group. An empty group takes any protocol type.
func (g *group) supports(protocolType string, protocols []Protocol) bool {
	if g.state == Empty {
		return protocolType != "" && len(protocols) > 0
	}
	if protocolType != g.protocolType {
		return false
	}
	for i := range protocols {
		if g.allSupport(protocols[i].Name) {
			return true
		}
	}
	return false
}

// allSupport tells whether all members support a protocol.
func (g *group) allSupport(protocol string) bool {
	for _, m := range g.members {
		if !m.supports(protocol) {
			return false
		}
	}
	return true
}

// choose returns the protocol with the most votes: each member votes for the first in its order of preference that all
// support. Of those with as many votes the first named wins. It is empty if there is none.
func (g *group) choose() string {
	if len(g.members) == 0 {
		return ""
	}
	common := make(map[string]int)
	for _, p := range g.members[0].protocols {
		if g.allSupport(p.Name) {
			common[p.Name] = 0
		}
	}
	best := ""
	for _, m := range g.members {
		for i := range m.protocols {
			name := m.protocols[i].Name
			votes, ok := common[name]
			if !ok {
				continue
			}
			common[name] = votes + 1
			break
		}
	}
	for _, m := range g.members {
		for i := range m.protocols {
			name := m.protocols[i].Name
			if votes, ok := common[name]; ok && (best == "" || votes > common[best]) {
				best = name
			}
		}
	}
	return best
}
