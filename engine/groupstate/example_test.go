package groupstate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/groupstate"
)

// Visits of users end when nothing was clicked for five minutes.
func ExampleFlatMap() {
	type Click struct {
		User string    `col:"user_id"`
		At   time.Time `col:"event_time"`
	}
	type Visit struct {
		Last   time.Time
		Clicks int64
	}
	type Ended struct {
		User   string `col:"user_id"`
		Clicks int64  `col:"clicks"`
	}

	dir, err := os.MkdirTemp("", "visits")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, rows := range map[string]string{
		"1.json": `{"user_id":"u1","event_time":"2026-10-06T12:00:00Z"}` + "\n" + `{"user_id":"u2","event_time":"2026-10-06T12:01:00Z"}` + "\n" + `{"user_id":"u1","event_time":"2026-10-06T12:03:00Z"}`,
		"2.json": `{"user_id":"u3","event_time":"2026-10-06T12:30:00Z"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(rows+"\n"), 0o644); err != nil {
			panic(err)
		}
	}
	s, err := engine.NewSession(connect.All(), engine.Options{})
	if err != nil {
		panic(err)
	}
	clicks := s.ReadStream().Format("json").Schema("user_id STRING, event_time TIMESTAMP").Load(dir)

	visits := groupstate.FlatMap(clicks.WithWatermark("event_time", "10 minutes"),
		groupstate.Spec{Name: "visits", Key: []string{"user_id"}, Timers: groupstate.EventTime},
		func(g *groupstate.Group[string, Click, Visit], emit func(Ended)) error {
			v, _ := g.State()
			if g.Len() == 0 { // the timer has passed
				emit(Ended{g.Key(), v.Clicks})
				g.Remove()
				return nil
			}
			for c := range g.Rows() {
				v.Clicks++
				if c.At.After(v.Last) {
					v.Last = c.At
				}
			}
			g.SetState(v)
			g.SetTimer("end", v.Last.Add(5*time.Minute))
			return nil
		})

	var lines []string
	query, err := visits.WriteStream().ForeachBatch(func(ctx context.Context, rows *engine.DataFrame, _ int64) error {
		res, err := rows.Select("concat(user_id, ' ', clicks) AS line").Collect(ctx)
		if err != nil {
			return err
		}
		for _, b := range res.Batches {
			for i := range b.Rows {
				lines = append(lines, string(b.Columns[0].BytesAt(i)))
			}
		}
		return nil
	}).Option("checkpointLocation", filepath.Join(dir, "_checkpoint")).Trigger(engine.AvailableNow()).Start(context.Background())
	if err != nil {
		panic(err)
	}
	if err := query.AwaitTermination(context.Background()); err != nil {
		panic(err)
	}
	sort.Strings(lines)
	fmt.Println(lines)
	// Output: [u1 2 u2 1]
}
