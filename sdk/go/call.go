package wstream

import "errors"

// Call is one call of a function: its input, its output, and what it may ask of the host.
type Call struct {
	QueryID   [16]byte
	BatchID   int64
	Partition int
	Attempt   int
	Watermark int64 // microseconds since the epoch, or NoWatermark
	BatchTime int64 // microseconds since the epoch

	frame    []byte
	kind, op uint16
	flags    uint32
	rows     int
	columns  []*Column
	sections []section

	out         []*Builder
	outSections []outSection
	parents     *Builder
	errors      [3]*Builder
}

type outSection struct {
	id, rows int
	columns  []*Builder
}

// Rows is the number of input rows.
func (c *Call) Rows() int { return c.rows }

// Columns is the number of input columns.
func (c *Call) Columns() int { return len(c.columns) }

// Column is input column i.
func (c *Call) Column(i int) *Column { return c.columns[i] }

// First tells whether this is the first slice of a batch, Last whether it is the last.
func (c *Call) First() bool { return c.flags&flagFirst != 0 }

// Last tells whether this is the last slice of a batch.
func (c *Call) Last() bool { return c.flags&flagLast != 0 }

// Replay tells whether the batch was, or may have been, handed over before.
func (c *Call) Replay() bool { return c.flags&flagRetry != 0 }

// Commit tells whether a foreachBatch function is called to commit, after the last slice.
func (c *Call) Commit() bool { return c.op == opCommit }

// Output adds a column to the output and gives its builder. Columns come in the order of the declared output.
func (c *Call) Output(t Type) *Builder {
	b := takeBuilder(t, c.rows)
	c.out = append(c.out, b)
	return b
}

// OutputOf adds a column that NewList, NewMap, NewStruct or NewBuilder made, and gives it back.
func (c *Call) OutputOf(b *Builder) *Builder {
	c.out = append(c.out, b)
	return b
}

// Pass adds input column i to the output untouched, in map functions.
func (c *Call) Pass(i int) {
	c.out = append(c.out, &Builder{passed: i})
}

// Parent says which input row (in State functions: which key) the next output row comes from: once for each output
// row, in rising order. A parse or map function that never calls it answers row for row.
func (c *Call) Parent(row int) {
	c.Parents()
	c.parents.Int32(int32(row))
}

// Parents makes the answer one that is not row for row, even if there is no output row.
func (c *Call) Parents() {
	if c.parents == nil {
		c.parents = takeBuilder(TypeInt32, c.rows)
	}
}

// Refuse refuses an input row: it goes where the pipeline's onError says.
func (c *Call) Refuse(row int, code int32, text string) {
	if c.errors[0] == nil {
		c.errors = [3]*Builder{NewBuilder(TypeInt32, 0), NewBuilder(TypeInt32, 0), NewBuilder(TypeString, 0)}
	}
	c.errors[0].Int32(int32(row))
	c.errors[1].Int32(code)
	c.errors[2].String(text)
}

// ErrDenied says that the pipeline does not allow a capability, connection, namespace or topic.
var ErrDenied = errors.New("denied")

// Exec runs an SQL statement of the manifest for every row of the input, whose columns are $1, $2, …; in
// foreachBatch functions, within the batch's transaction. It gives the rows that the database says were touched.
func (c *Call) Exec(connection, statement string) (int64, error) {
	return status(hostExec(connection, statement, c.frame))
}

// ExecOnce runs a statement without parameters once.
func (c *Call) ExecOnce(connection, statement string) (int64, error) {
	one := Call{kind: c.kind, rows: 1, BatchID: c.BatchID}
	frame := one.encode(nil)
	frame[20] = 1 // a row without columns
	return status(hostExec(connection, statement, frame))
}

// Produce sends the input's rows to a topic, within the batch's transaction.
func (c *Call) Produce(topic string) error {
	_, err := status(hostProduce(topic, c.frame))
	return err
}

// Log writes a line to the host's log. Level is 0 debug, 1 info, 2 warning, 3 error.
func (c *Call) Log(level int, line string) { hostLog(level, line) }

// Add adds to a metric of the manifest.
func (c *Call) Add(metric string, delta float64) { hostMetric(false, metric, delta) }

// Observe notes a value of a metric of the manifest.
func (c *Call) Observe(metric string, value float64) { hostMetric(true, metric, value) }

// Get reads a value of a namespace; ok is false where there is none.
func (c *Call) Get(namespace string, key []byte) (value []byte, ok bool, err error) {
	buf := make([]byte, 256)
	for {
		n := hostGet(namespace, key, buf)
		if n == statusNotFound {
			return nil, false, nil
		}
		if _, err := status(n); err != nil {
			return nil, false, err
		}
		if n <= int64(len(buf)) {
			return buf[:n], true, nil
		}
		buf = make([]byte, n)
	}
}

// Put writes a value of a namespace.
func (c *Call) Put(namespace string, key, value []byte) error {
	_, err := status(hostPut(namespace, key, value))
	return err
}

// Delete removes a value of a namespace.
func (c *Call) Delete(namespace string, key []byte) error {
	_, err := status(hostDelete(namespace, key))
	return err
}

// Statuses.
const (
	statusFailed    = -1
	statusUnknown   = -2
	statusBadConfig = -4
	statusBadFrame  = -5
	statusDenied    = -7
	statusNotFound  = -8
)

var statusErrors = map[int64]error{
	statusDenied: ErrDenied, statusNotFound: errors.New("not declared in the manifest"), -9: errors.New("too large"),
}

// status makes an error of a negative result.
func status(n int64) (int64, error) {
	if n >= 0 {
		return n, nil
	}
	if err := statusErrors[n]; err != nil {
		return 0, err
	}
	return 0, errors.New("failed")
}
