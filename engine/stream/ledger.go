package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/engine/connector"
)

// ledger is the checkpoint for several goroutines: the loop plans a batch while another one is being finished.
type ledger struct {
	mu sync.Mutex
	c  *checkpoint.Checkpoint
	// keepFrom is the oldest batch that the checkpoint can be rolled back to.
	keepFrom int64
}

func (l *ledger) writeOffsets(ctx context.Context, e checkpoint.OffsetEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c.WriteOffsets(ctx, e)
}

func (l *ledger) writeCommit(ctx context.Context, e checkpoint.CommitEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c.WriteCommit(ctx, e)
}

// note writes down what a batch is about to publish. For a replay it returns the note of the run before, if that says
// something else.
func (l *ledger) note(n checkpoint.OutputNote, replay bool) (before checkpoint.OutputNote, differs bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if replay {
		before, differs = l.c.Output(n.BatchID)
		differs = differs && before != n
	}
	return before, differs, l.c.NoteOutput(n)
}

// checkOwner says whether this process still owns the checkpoint.
func (l *ledger) checkOwner() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c.CheckOwner()
}

func (l *ledger) purge(keep int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, err := l.c.Purge(keep)
	l.keepFrom = max(l.keepFrom, from)
	return err
}

func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c.Close()
}

// metadataLog is a connector's log in the checkpoint. It is opened when it is first used.
type metadataLog struct {
	l    *ledger
	open func(name string) (*checkpoint.SideLog, error)
	name string
	log  *checkpoint.SideLog
	wish *compaction
}

// compaction is a wish to compact that must wait until the checkpoint cannot be rolled back that far any more.
type compaction struct {
	batch int64
	v     json.RawMessage
}

// sourceLog and sinkLog are the logs of connectors by their name in the query.
func (l *ledger) sourceLog(name string) connector.MetadataLog {
	return &metadataLog{l: l, open: l.c.SourceLog, name: logName(name)}
}

func (l *ledger) sinkLog(name string) connector.MetadataLog {
	return &metadataLog{l: l, open: l.c.SinkLog, name: logName(name)}
}

// logName makes a name that the checkpoint takes of any name: what it does not take is written as _XX.
func logName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

func (m *metadataLog) ready() error {
	if m.log != nil {
		return nil
	}
	log, err := m.open(m.name)
	m.log = log
	return err
}

// Put implements connector.MetadataLog.
func (m *metadataLog) Put(batch int64, v json.RawMessage) error {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	if err := m.ready(); err != nil {
		return err
	}
	if err := m.compact(); err != nil {
		return err
	}
	return m.log.Append(batch, v)
}

// Each implements connector.MetadataLog.
func (m *metadataLog) Each(f func(batch int64, v json.RawMessage) error) error {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	if err := m.ready(); err != nil {
		return err
	}
	return m.log.Scan(func(e checkpoint.SideEntry) error { return f(e.Batch, e.Payload) })
}

// Compact implements connector.MetadataLog. Entries of batches that the checkpoint can be rolled back to are left as they
// are: the wish is remembered, and done when the checkpoint has moved on.
func (m *metadataLog) Compact(batch int64, v json.RawMessage) error {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	if err := m.ready(); err != nil {
		return err
	}
	if m.wish == nil {
		m.wish = &compaction{batch, v}
	}
	return m.compact()
}

// compact does what was wished if it may be done by now.
func (m *metadataLog) compact() error {
	if m.wish == nil || m.wish.batch > m.l.keepFrom {
		return nil
	}
	w := m.wish
	m.wish = nil
	return m.log.Compact(w.batch, func([]checkpoint.SideEntry) ([]byte, error) { return w.v, nil })
}
