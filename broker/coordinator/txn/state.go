package txn

// State is where a transactional id stands. The numbers are those of the records.
type State int8

// The states of a transactional id.
const (
	Empty          State = 0 // no transaction yet
	Ongoing        State = 1 // partitions were added
	PrepareCommit  State = 2 // decided, markers are being written
	PrepareAbort   State = 3
	CompleteCommit State = 4 // every partition has its marker
	CompleteAbort  State = 5
	// Dead and PrepareEpochFence are states that Apache Kafka keeps in memory only. They have names for filters.
	Dead              State = 6
	PrepareEpochFence State = 7
)

var stateNames = [...]string{
	Empty: "Empty", Ongoing: "Ongoing", PrepareCommit: "PrepareCommit", PrepareAbort: "PrepareAbort",
	CompleteCommit: "CompleteCommit", CompleteAbort: "CompleteAbort", Dead: "Dead", PrepareEpochFence: "PrepareEpochFence",
}

// String returns Apache Kafka's name of the state.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "Unknown"
	}
	return stateNames[s]
}

// ParseState returns the state of a name.
func ParseState(name string) (State, bool) {
	for s, n := range stateNames {
		if n == name {
			return State(s), true //nolint:gosec // few names
		}
	}
	return 0, false
}

// stored tells whether records may have the state.
func (s State) stored() bool { return s >= Empty && s <= CompleteAbort }

// decided tells whether markers are to be written.
func (s State) decided() bool { return s == PrepareCommit || s == PrepareAbort }

// idle tells whether there is no transaction.
func (s State) idle() bool { return s == Empty || s == CompleteCommit || s == CompleteAbort }
