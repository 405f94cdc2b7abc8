package metadata

import (
	"context"
	"time"
)

// Rev is the revision of a store. Every transaction that changes something has a revision of its own, one or more above
// the one before it. The revision of an empty store is 0.
type Rev int64

// SessionID names a session of a store. 0 means no session.
type SessionID int64

// KV is one key as it stands at a revision.
type KV struct {
	Key string
	// Value belongs to the store and may be shared with other readers: never write to it.
	Value []byte
	// CreateRev is the revision that created the key; a key that is deleted and put again has a new one.
	CreateRev Rev
	// ModRev is the revision that last put the key.
	ModRev Rev
	// Session is the session whose end deletes the key, or 0.
	Session SessionID
}

// CmpField says what a compare looks at.
type CmpField int8

// The fields of a compare.
const (
	CmpCreate CmpField = iota // the create revision equals Rev; 0 stands for an absent key
	CmpMod                    // the mod revision equals Rev; 0 stands for an absent key
	CmpExists                 // the key exists; Rev is not looked at
)

// Cmp is one condition of a transaction. Build it with Absent, Exists, CreatedAt or ModifiedAt.
type Cmp struct {
	Key   string
	Field CmpField
	Rev   Rev
}

// Absent holds while key does not exist.
func Absent(key string) Cmp { return Cmp{Key: key, Field: CmpMod} }

// Exists holds while key exists.
func Exists(key string) Cmp { return Cmp{Key: key, Field: CmpExists} }

// CreatedAt holds while key is the one that revision rev created.
func CreatedAt(key string, rev Rev) Cmp { return Cmp{Key: key, Field: CmpCreate, Rev: rev} }

// ModifiedAt holds while revision rev is the last that put key. Revision 0 means that key does not exist.
func ModifiedAt(key string, rev Rev) Cmp { return Cmp{Key: key, Field: CmpMod, Rev: rev} }

// OpKind is the kind of an operation.
type OpKind int8

// The kinds of operations.
const (
	OpPut OpKind = iota
	OpDelete
	OpDeletePrefix
)

// Op is one operation of a transaction. Build it with Put, PutSession, Delete or DeletePrefix.
type Op struct {
	Kind    OpKind
	Key     string // the prefix, for OpDeletePrefix
	Value   []byte
	Session SessionID
}

// Put sets key to value and detaches it from any session. The store keeps value: the caller must not write to it again.
func Put(key string, value []byte) Op { return Op{Kind: OpPut, Key: key, Value: value} }

// PutSession sets key to value and ties it to a session: when the session ends the key is deleted.
func PutSession(key string, value []byte, id SessionID) Op {
	return Op{Kind: OpPut, Key: key, Value: value, Session: id}
}

// Delete deletes key; deleting an absent key changes nothing.
func Delete(key string) Op { return Op{Kind: OpDelete, Key: key} }

// DeletePrefix deletes every key that begins with prefix, at most MaxPrefixKeys of them.
func DeletePrefix(prefix string) Op { return Op{Kind: OpDeletePrefix, Key: prefix} }

// Txn is a transaction: when every compare holds, all operations take effect at one revision, else none does.
type Txn struct {
	Cmps []Cmp
	Ops  []Op
}

// TxnResult says what became of a transaction.
type TxnResult struct {
	// Succeeded says that all compares held and all operations took effect.
	Succeeded bool
	// Rev is the revision of the change; when a compare failed, or nothing was changed, the revision of the store at
	// that moment. An image that has reached Rev shows why a compare failed.
	Rev Rev
}

// Limits of a transaction. They are the same for every engine, so that a program that works on one works on all.
const (
	MaxOps        = 128       // operations, and as many compares, in one transaction
	MaxKeyBytes   = 1 << 10   // length of a key
	MaxValueBytes = 128 << 10 // length of a value
	MaxTxnBytes   = 384 << 10 // keys and values of all operations of a transaction together
	MaxPrefixKeys = 2048      // keys that one DeletePrefix may delete
)

// EventKind says what an event did to its key.
type EventKind int8

// The kinds of events.
const (
	EventPut EventKind = iota
	EventDelete
)

// Event is one change of one key. For EventDelete, KV has the key, and ModRev is the revision that deleted it; the rest
// is zero.
type Event struct {
	Kind EventKind
	KV   KV
}

// Batch is a piece of a watch: all events of one or more whole revisions, in the order of revisions.
type Batch struct {
	// Rev is the last revision that the batch covers.
	Rev Rev
	// Events belong to the store and are shared by watchers: never write to them.
	Events []Event
	// Err is set in the last batch of a watch that cannot go on: ErrCompacted when the watcher fell behind what the store
	// remembers, or what else went wrong. Such a batch has no events.
	Err error
}

// Store is the one contract for metadata: a small ordered map with revisions, compare-and-swap transactions, watches and
// sessions. All methods may be called concurrently. After Close every method answers ErrClosed.
//
// Reads and transactions are linearizable: an operation that begins after another has returned sees its effect.
type Store interface {
	// Get returns a key and the revision of the store it was read at. The error is ErrNotFound for an absent key; the
	// revision is valid then too.
	Get(ctx context.Context, key string) (KV, Rev, error)

	// List returns all keys with a prefix in the order of keys, as one snapshot, and the revision of that snapshot.
	// Watch(ctx, prefix, rev) continues from there without a gap.
	List(ctx context.Context, prefix string) ([]KV, Rev, error)

	// Txn runs a transaction. A failed compare is no error. When it returns a nil error and Succeeded, the change
	// survives any crash. ErrUnknownOutcome means that the transaction may or may not have taken effect; every other
	// error means that it has not.
	Txn(ctx context.Context, txn Txn) (TxnResult, error)

	// Watch delivers every change of keys with a prefix after revision after, in order and without a gap. The channel is
	// closed when ctx ends or the store is closed, or after a batch with Err. ErrCompacted, here or in a batch, means that
	// changes after that revision are no longer known: List again.
	Watch(ctx context.Context, prefix string, after Rev) (<-chan Batch, error)

	// OpenSession begins a session, which the engine keeps alive until it is closed or lost.
	OpenSession(ctx context.Context, ttl time.Duration) (Session, error)

	// Close ends all watches and sessions and releases the store. Keys of open sessions are gone at the latest when the
	// store is opened again, or when their time to live has passed.
	Close() error
}

// Session is a proof of life. Keys put with its ID vanish when it ends.
type Session interface {
	// ID is what PutSession takes.
	ID() SessionID
	// Deadline is the time until which the session is certain to be alive, whatever happens to the store.
	Deadline() time.Time
	// Lost is closed when the session has ended or can no longer be vouched for.
	Lost() <-chan struct{}
	// Close ends the session and deletes its keys. Closing an ended session is no error.
	Close(ctx context.Context) error
}

// MinSessionTTL and MaxSessionTTL bound the time to live of a session.
const (
	MinSessionTTL = time.Second
	MaxSessionTTL = time.Hour
)
