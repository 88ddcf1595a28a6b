package reference

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The job of the clicks: rows with an amount above MinAmount, counted and summed by url in windows of WindowUs, a window
// closed once an event time has passed its end by DelayUs.
const (
	MinAmount = 1.0
	WindowUs  = int64(10 * time.Minute / time.Microsecond)
	DelayUs   = int64(10 * time.Minute / time.Microsecond)
)

// Windowed is the clicks job over any number of goroutines, each with a Part of its own.
type Windowed struct {
	Table *Table
	// NewestUs is the greatest event time of a row that counted.
	NewestUs int64
	// Rows is the number of lines read.
	Rows int
}

// NewWindowed starts the job, or one goroutine's part of it.
func NewWindowed() *Windowed { return &Windowed{Table: NewTable()} }

// Lines adds all lines of b.
func (w *Windowed) Lines(b []byte) error {
	var c Click
	for p := 0; p < len(b); {
		next, err := ScanClick(b, p, &c)
		if err != nil {
			return err
		}
		p = next
		w.Rows++
		if c.Amount > MinAmount {
			w.Table.Add(c.TimeUs-c.TimeUs%WindowUs, c.URL, c.Amount)
			w.NewestUs = max(w.NewestUs, c.TimeUs)
		}
	}
	return nil
}

// Merge adds another part.
func (w *Windowed) Merge(o *Windowed) {
	w.Table.Merge(o.Table)
	w.NewestUs = max(w.NewestUs, o.NewestUs)
	w.Rows += o.Rows
}

// Closed calls f for the groups of closed windows.
func (w *Windowed) Closed(f func(url []byte, g *Group)) {
	w.Table.Each(func(url []byte, g *Group) {
		if g.WindowUs+WindowUs <= w.NewestUs-DelayUs {
			f(url, g)
		}
	})
}

// Answer sums the closed windows up, so that two ways of doing the job can be compared: see Tally.
func (w *Windowed) Answer() string {
	var t Tally
	w.Closed(func(_ []byte, g *Group) { t.Add(g.Count, g.Total) })
	return t.String()
}

// Tally is a sum over result rows that does not depend on their order: amounts have whole cents, so that the rounded total
// is exact.
type Tally struct {
	rows, count int64
	total       float64
}

// Add counts one result row.
func (t *Tally) Add(count int64, total float64) {
	t.rows++
	t.count += count
	t.total += total
}

// String is the tally in words.
func (t *Tally) String() string {
	return fmt.Sprintf("%d groups of %d clicks worth %.2f", t.rows, t.count, t.total)
}

// Files does the job over the *.json files of a folder with some goroutines, and writes the closed windows as CSV to
// outDir/out.csv. A file is read by one goroutine.
func Files(inDir, outDir string, goroutines int) (*Windowed, error) {
	names, err := filepath.Glob(filepath.Join(inDir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no *.json in %q", inDir)
	}
	slices.Sort(names)
	parts, errs := make([]*Windowed, goroutines), make([]error, goroutines)
	var next atomic.Int64
	var wait sync.WaitGroup
	for g := range goroutines {
		parts[g] = NewWindowed()
		wait.Go(func() {
			buf := make([]byte, 1<<20)
			for errs[g] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				errs[g] = parts[g].file(names[i], buf)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, p := range parts[1:] {
		parts[0].Merge(p)
	}
	return parts[0], parts[0].write(outDir)
}

// file adds the lines of one file, read in pieces into buf.
func (w *Windowed) file(name string, buf []byte) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	kept := 0 // bytes of an unfinished line at the start of buf
	for {
		n, err := f.Read(buf[kept:])
		have := buf[:kept+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return w.Lines(have)
		}
		whole := bytes.LastIndexByte(have, '\n') + 1
		if err := w.Lines(have[:whole]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kept = copy(buf, have[whole:])
		if kept == len(buf) {
			return fmt.Errorf("%s: a line of more than %d bytes", name, len(buf))
		}
	}
}

func (w *Windowed) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var out []byte
	w.Closed(func(url []byte, g *Group) {
		out = time.UnixMicro(g.WindowUs).UTC().AppendFormat(out, time.RFC3339)
		out = append(append(append(out, ','), url...), ',')
		out = append(strconv.AppendInt(out, g.Count, 10), ',')
		out = append(strconv.AppendFloat(out, g.Total, 'g', -1, 64), ',')
		out = append(strconv.AppendFloat(out, g.Total/float64(g.Count), 'g', -1, 64), '\n')
	})
	return os.WriteFile(filepath.Join(dir, "out.csv"), out, 0o644)
}
