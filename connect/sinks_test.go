package connect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wstream/wstream/internal/failpoint"
)

// crashPoints are the points around a sink.
var crashPoints = []string{
	failpoint.SinkPartial, failpoint.SinkStaged, failpoint.SinkPublished, failpoint.CommitLogPartial, failpoint.CommitDurable,
}

// survives runs a query straight, and again with a crash at each point in batches 0 and 1, and compares what the sink has.
// content must give the sink's content in a fixed order; reset begins anew.
func survives(t *testing.T, b *bench, text, sink string, reset func(), content func() string) {
	t.Helper()
	survivesIn(t, b, text, sink, reset, content, 0, 1)
}

// survivesIn is survives with the batches to crash in.
func survivesIn(t *testing.T, b *bench, text, sink string, reset func(), content func() string, batches ...int) {
	t.Helper()
	reset()
	b.mustRun(text, sink)
	want := content()
	if strings.TrimSpace(want) == "" {
		t.Fatal("the sink has nothing")
	}
	for _, point := range crashPoints {
		for _, batch := range batches {
			t.Run(fmt.Sprintf("%s@%d", point, batch), func(t *testing.T) {
				reset()
				_, err := b.run(text, sink, fmt.Sprintf("%s@batch=%d=err", point, batch))
				var fired *failpoint.Error
				if !errors.As(err, &fired) {
					t.Fatalf("the point did not fire: %v", err)
				}
				b.mustRun(text, sink)
				if got := content(); got != want {
					t.Errorf("after the crash:\n%s\nwithout one:\n%s", got, want)
				}
			})
		}
	}
}
