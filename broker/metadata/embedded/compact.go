package embedded

// Badger's own compactors would start whenever they like, and write tables through memory maps over sparse files: on a disk
// that fills up at that moment a SIGBUS would kill the process. So they are switched off. The writer compacts, between two
// groups, when there are some tables to merge and there is room for all of their successors beside them; so nothing is
// being written while the store is at rest. It takes some 10 ms for every 4 MiB of changes.

const (
	// compactTables is the number of flushed tables at which they are merged, when another log has become one.
	compactTables = 2
	// compactTablesAtStart is the number at which a start begins with that; every stop leaves a table behind.
	compactTablesAtStart = 8
)

// compact merges tables when there are at least so many flushed ones. What cannot be done now is tried again with the next
// full log.
func (s *Store) compact(tables int) {
	levels := s.db.Levels()
	if levels[0].NumTables < tables {
		return
	}
	need := max(s.options.MinFreeBytes, 0)
	for _, l := range levels {
		need += l.Size
	}
	free, err := s.options.FreeBytes(s.dir)
	if err != nil || free < need {
		s.options.Logger.Debug("metadata store is not compacted for lack of space", "dir", s.dir, "free", free, "need", need, "error", err)
		return
	}
	if err := s.db.Flatten(1); err != nil {
		s.options.Logger.Debug("metadata store was not compacted", "dir", s.dir, "error", err)
	}
}
