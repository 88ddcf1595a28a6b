package socket

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/wstream/wstream/engine/connector"
)

func TestSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var warnings []string
	s, err := newSource(connector.Env{Warn: func(f string, a ...any) { warnings = append(warnings, fmt.Sprintf(f, a...)) }},
		connector.NewOptions(map[string]string{"host": "127.0.0.1", "port": port}))
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "cannot be read again") {
		t.Errorf("warnings: %q", warnings)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	start := connector.Offset("41") // an earlier run has read 42 lines
	var got []string
	for _, text := range []string{"one\r\ntwo\n", "three\n"} {
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		want := strings.Count(text, "\n")
		for n := 0; n < want; {
			if err := s.(connector.Waiter).Wait(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			end, _, err := s.Next(t.Context(), start, false)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := s.Plan(t.Context(), start, end)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range parts {
				p.Read(t.Context(), nil, func(c connector.Chunk) error {
					d, _ := c.Decode(t.Context())
					for i := range d.Batch.Rows {
						got = append(got, d.Batch.Columns[0].StringAt(i))
						n++
					}
					return nil
				})
			}
			if err := s.(connector.Committer).Commit(t.Context(), 0, end); err != nil {
				t.Fatal(err)
			}
			start = end
		}
	}
	if fmt.Sprintf("%v %s", got, start) != "[one two three] 44" {
		t.Errorf("got %v up to %s", got, start)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	c.Close()
}
