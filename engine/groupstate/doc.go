// Package groupstate writes state functions in Go: what Spark calls flatMapGroupsWithState and mapGroupsWithState. A function is called for
// each key that has rows in a batch, and for each key one of whose timers has passed; it keeps a state for the key, sets
// timers, and emits rows.
//
//	type Click struct {
//		User string    `col:"user_id"`
//		At   time.Time `col:"event_time"`
//	}
//	type Visit struct{ Begin, Last time.Time; Clicks int64 }
//	type Ended struct {
//		User   string `col:"user_id"`
//		Clicks int64  `col:"clicks"`
//	}
//
//	visits := groupstate.FlatMap(clicks.WithWatermark("event_time", "10 minutes"),
//		groupstate.Spec{Name: "visits", Key: []string{"user_id"}, Timers: groupstate.EventTime},
//		func(g *groupstate.Group[string, Click, Visit], emit func(Ended)) error {
//			if len(g.Fired()) > 0 {
//				v, _ := g.State()
//				emit(Ended{g.Key(), v.Clicks})
//				g.Remove()
//				return nil
//			}
//			v, _ := g.State()
//			for c := range g.Rows() {
//				v.Last, v.Clicks = c.At, v.Clicks+1
//			}
//			g.SetState(v)
//			g.SetTimer("end", v.Last.Add(5*time.Minute))
//			return nil
//		})
//
// # Columns and fields
//
// The fields of a struct are columns, by their `col` tag or else by their name, without regard to case: bool BOOLEAN, int8 TINYINT,
// int16 SMALLINT, int32 INT, int64 and int BIGINT, float32 FLOAT, float64 DOUBLE, string STRING, []byte BINARY, time.Time
// TIMESTAMP, a slice ARRAY, a map MAP, a struct STRUCT. A pointer may be null; a null in any other field is an error. Keys and states
// may be such a value themselves, or a struct of them.
//
// # State, timers, restarts
//
// State and timers are in the checkpoint of the query, under the key, by the same operator as those of Wasm functions: a batch
// that is replayed finds what the batch before has left, and a restart with another parallelism moves nothing. A state
// may get more fields at its end in a later version of the program; they have their zero value (nil for pointers) in states that
// were written before. Any other change of its fields is refused at the start.
//
// A key has any number of named timers, of event time and of processing time. A timer fires once, in the first batch whose
// watermark (or time) is past it by a millisecond; if the key has rows in that batch, the call has both. A state with a TTL is
// forgotten when it was not set for so long by processing time, also when its key is never seen again.
//
// Below the typed functions is [Batches], which hands over columns: all keys of a batch and a partition in one call.
package groupstate
