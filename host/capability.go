package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Capabilities are what a guest may reach outside of its memory, each given by the host's user. A nil one
// answers DENIED, as does a name that the module's permissions do not list.
type Capabilities struct {
	Log     Logger
	SQL     SQLExecutor
	Metrics Metrics
	KV      KV
	Produce Producer
}

// Logger takes the log lines of guests.
type Logger interface {
	// Log takes one line, already cut to the limits. Level is 0 debug, 1 info, 2 warning, 3 error.
	Log(module, function string, level int, line string)
}

// SQLExecutor runs statements for rows, all within the transaction that its maker opened for the batch.
type SQLExecutor interface {
	// Exec runs the statement once for each row, whose columns are its parameters $1, $2, …, and gives
	// the number of rows that the database says were touched.
	Exec(ctx context.Context, connection, statement string, rows *columnar.Batch) (int64, error)
}

// Metrics takes the numbers that guests report under names of their manifest.
type Metrics interface {
	Add(module, name string, delta float64)
	Observe(module, name string, value float64)
}

// KV is a store of small values. Keys live in a namespace that the pipeline allows by name.
type KV interface {
	Get(ctx context.Context, namespace string, key []byte) (value []byte, ok bool, err error)
	Put(ctx context.Context, namespace string, key, value []byte) error
	Delete(ctx context.Context, namespace string, key []byte) error
}

// Producer sends rows to a topic within the batch's transaction.
type Producer interface {
	Produce(ctx context.Context, topic string, rows *columnar.Batch) error
}

// over gives c with the fields that are nil taken from base.
func (c Capabilities) over(base Capabilities) Capabilities {
	if c.Log == nil {
		c.Log = base.Log
	}
	if c.SQL == nil {
		c.SQL = base.SQL
	}
	if c.Metrics == nil {
		c.Metrics = base.Metrics
	}
	if c.KV == nil {
		c.KV = base.KV
	}
	if c.Produce == nil {
		c.Produce = base.Produce
	}
	return c
}

// Permissions are the entries of a module's `allow` in a pipeline file.
type Permissions struct {
	Metric  bool
	SQL     []string // connections
	KV      []string // namespaces
	Produce []string // topics
}

// ParsePermissions reads entries such as "metric", "sql:analytics", "kv:geo", "produce:alerts". "log" is
// allowed always and may be written.
func ParsePermissions(allow []string) (Permissions, error) {
	var p Permissions
	for _, a := range allow {
		kind, name, named := strings.Cut(a, ":")
		var list *[]string
		switch kind {
		case "metric":
			p.Metric = true
		case "log":
		case "sql":
			list = &p.SQL
		case "kv":
			list = &p.KV
		case "produce":
			list = &p.Produce
		default:
			return p, fmt.Errorf("unknown capability %q; known are metric, sql:CONNECTION, kv:NAMESPACE, produce:TOPIC", a)
		}
		switch {
		case list == nil && named:
			return p, fmt.Errorf("capability %q takes no name", kind)
		case list != nil && name == "":
			return p, fmt.Errorf("capability %q needs a name, as in %q", a, kind+":NAME")
		case list != nil:
			*list = append(*list, name)
		}
	}
	return p, nil
}

func (p *Permissions) sql(connection string) bool { return slices.Contains(p.SQL, connection) }
