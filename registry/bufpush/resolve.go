package bufpush

// network is commits with all they need, at most one of each module but for those that were asked for.
type network struct {
	commits []*commit           // those that were asked for first
	needs   map[string][]string // for each id, the ids of those whose files it imports
}

// resolve finds all that some commits need, as for a module that depends on all of them. Where two of them need a module in
// different states, the newer one is taken, and one that was asked for goes before all others. For one commit alone that is
// exactly what its digest covers.
func (v *view) resolve(roots []*commit) (*network, error) {
	chosen, err := v.choose(roots)
	if err != nil {
		return nil, err
	}
	n := &network{needs: map[string][]string{}}
	seen := map[string]bool{}
	add := func(c *commit) {
		if !seen[c.ID] {
			seen[c.ID] = true
			n.commits = append(n.commits, c)
		}
	}
	for _, c := range roots {
		add(c)
	}
	for i := 0; i < len(n.commits); i++ { // it grows on the way
		from := n.commits[i]
		for _, id := range from.Direct {
			to, err := v.commitByID(id)
			if err != nil {
				return nil, err
			}
			if other, ok := chosen[to.ModuleID]; ok {
				to = other
			}
			n.needs[from.ID] = append(n.needs[from.ID], to.ID)
			add(to)
		}
	}
	return n, nil
}

// choose picks the commit of each module that some commits need or are.
func (v *view) choose(roots []*commit) (map[string]*commit, error) {
	chosen := map[string]*commit{}
	for _, root := range roots {
		for _, id := range root.Deps {
			c, err := v.commitByID(id)
			if err != nil {
				return nil, err
			}
			if have := chosen[c.ModuleID]; have == nil || have.Number < c.Number {
				chosen[c.ModuleID] = c
			}
		}
	}
	asked := map[string]bool{}
	for _, root := range roots {
		if !asked[root.ModuleID] {
			asked[root.ModuleID], chosen[root.ModuleID] = true, root
		}
	}
	return chosen, nil
}
