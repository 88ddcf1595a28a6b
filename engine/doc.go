// Package engine is the Go API: sessions, data frames and streaming queries after the model of Spark's DataFrame API.
//
//	s, err := engine.NewSession(connect.All(), engine.Options{})
//	clicks := s.ReadStream().Format("json").Schema("url STRING, event_time TIMESTAMP").Load("incoming")
//	counts := clicks.
//		WithWatermark("event_time", "10 minutes").
//		GroupBy("window(event_time, '10 minutes')", "url").
//		Agg("count(*) AS clicks")
//	query, err := counts.WriteStream().Format("parquet").Option("path", "out").
//		Option("checkpointLocation", "ckpt").Trigger(engine.AvailableNow()).Start(ctx)
//	err = query.AwaitTermination(ctx)
//
// A data frame is a query that has not run. Every method returns a new one; columns and conditions are written in SQL. A
// mistake (an unknown column, text that does not parse) is kept in the frame and comes back from Err, Schema and every
// action, so that calls can be chained.
//
// Bounded data is looked at with Collect, Count and Show; streams are written with WriteStream.
package engine
