package stream

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/connector"
)

// oneByOne is a source that gives one added row batch to each micro-batch.
func oneByOne(f *fixture, name string) Source {
	return Source{Kind: "memory", Open: func(connector.Env) (connector.Source, error) {
		return &slowSource{Source: f.streams[name].Source()}, nil
	}}
}

type slowSource struct{ connector.Source }

func (s *slowSource) Next(ctx context.Context, start connector.Offset, unlimited bool) (end, latest connector.Offset, err error) {
	end, latest, err = s.Source.Next(ctx, start, unlimited)
	if err != nil || unlimited || string(end) == string(start) {
		return end, latest, err
	}
	n := 0
	if start != nil {
		if err := json.Unmarshal(start, &n); err != nil {
			return nil, nil, err
		}
	}
	end, err = json.Marshal(n + 1)
	return end, latest, err
}

func (s *slowSource) Fix(ctx context.Context, start connector.Offset) error {
	return s.Source.(connector.Bounded).Fix(ctx, start)
}

func (s *slowSource) Wait(ctx context.Context, start connector.Offset) error {
	return s.Source.(connector.Waiter).Wait(ctx, start)
}

func awaitSleep(t *testing.T, c *StepClock) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.AwaitSleeper(ctx); err != nil {
		t.Fatal(err)
	}
}
