package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/bench/reference"
)

// The load of the latency measurements: so many records a second, of so many users.
const (
	latencyRate  = 10_000
	latencyUsers = 20_000
	latencyWarm  = 3 * time.Second
)

// latency is the time from a record to the count that has it, topic to topic, at a steady rate.
func latency() []measurement {
	var all []measurement
	for _, promise := range []string{"exactly once", "at least once"} {
		exactly := promise == "exactly once"
		job := "latency at 10,000 records/s, Kafka to Kafka, " + promise
		all = append(all,
			measurement{job: job, way: "plain loop", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
				_, err := e.kafka(ctx)
				return func(ctx context.Context) (outcome, error) {
					return e.latencyOf(ctx, exactly, func(ctx context.Context, in, out string) error {
						return reference.CountLoop(ctx, e.broker, in, out, out, exactly)
					})
				}, err
			}},
			measurement{job: job, way: "wstream run", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
				if _, err := e.binary(); err != nil {
					return nil, err
				}
				_, err := e.kafka(ctx)
				return func(ctx context.Context) (outcome, error) {
					return e.latencyOf(ctx, exactly, func(ctx context.Context, in, out string) error { return e.counting(ctx, in, out, promise) })
				}, err
			}})
	}
	return all
}

// counting runs bench/peer latency until the context ends.
func (e *env) counting(ctx context.Context, in, out, promise string) error {
	checkpoint, err := e.fresh("checkpoint")
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd := exec.Command(filepath.Join(e.root, "bench", "peer"), "latency")
	cmd.Env = append(os.Environ(), "BENCH_BROKER="+e.broker, "BENCH_IN="+in, "BENCH_OUT="+out, "BENCH_CKPT="+checkpoint,
		"BENCH_DELIVERY="+strings.ReplaceAll(promise, " ", "-"))
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
		return fmt.Errorf("bench/peer latency ended: %w: %s", err, strings.TrimSpace(said.String()))
	case <-ctx.Done():
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := <-ended; err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM)) {
		return fmt.Errorf("bench/peer latency: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// latencyOf feeds a system at the steady rate and reads what it answers. Every record must be counted.
func (e *env) latencyOf(ctx context.Context, committed bool, system func(ctx context.Context, in, out string) error) (outcome, error) {
	in, err := e.topic(ctx, "latency-in", 4)
	if err != nil {
		return outcome{}, err
	}
	out, err := e.topic(ctx, "latency-out", 4)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := system(running, in, out)
		if running.Err() == nil {
			cancel() // nobody will answer any more
		}
		ended <- err
	}()
	a := &acknowledging{sent: make([][]time.Time, latencyUsers), have: make([]int64, latencyUsers)}
	read := make(chan error, 1)
	go func() { read <- a.read(ctx, e.broker, out, committed) }()
	sent, err := a.send(ctx, e.broker, in, e.latencyFor)
	for end := time.Now().Add(20 * time.Second); err == nil && a.count() < sent && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	systemErr := <-ended
	cancel()
	if readErr := <-read; err == nil {
		err = errors.Join(systemErr, readErr)
	}
	if err != nil {
		return outcome{}, err
	}
	slices.Sort(a.waits)
	if n := len(a.waits); n > 0 {
		return outcome{rows: sent, p50: a.waits[n/2], p99: a.waits[n*99/100], answer: fmt.Sprintf("%d records were not counted", sent-a.count())}, nil
	}
	return outcome{}, fmt.Errorf("nothing was counted: %w", systemErr)
}

// acknowledging matches counts with the records that they count: a count of n has the first n records of its user.
type acknowledging struct {
	mu    sync.Mutex
	sent  [][]time.Time // by user, in order
	have  []int64       // by user, the greatest count so far
	seen  int
	warm  time.Time // records before it do not count
	waits []time.Duration
}

func (a *acknowledging) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

// send puts records into a topic, a hundredth of a second's worth at a time split by the millisecond.
func (a *acknowledging) send(ctx context.Context, broker, topic string, length time.Duration) (int, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var first kgo.FirstErrPromise
	r := rand.New(rand.NewPCG(1, 1))
	begin := time.Now()
	a.mu.Lock()
	a.warm = begin.Add(latencyWarm)
	a.mu.Unlock()
	n := 0
	for ctx.Err() == nil {
		passed := time.Since(begin)
		if passed > length+latencyWarm {
			break
		}
		for ; n < int(passed.Seconds()*latencyRate); n++ {
			user := r.IntN(latencyUsers)
			value := append(make([]byte, 0, 160), `{"user_id":"u`...)
			value = strconv.AppendInt(value, int64(user), 10)
			value = append(value, `","event_time":"2026-10-06T12:00:00.000Z","url":"/product/1234567","amount":12.5,"ua":"Mozilla/5.0 (X11; Linux x86_64; rv:128.0)"}`...)
			a.mu.Lock()
			a.sent[user] = append(a.sent[user], time.Now())
			a.mu.Unlock()
			client.Produce(ctx, &kgo.Record{Key: strconv.AppendInt(nil, int64(user), 10), Value: value}, first.Promise())
		}
		time.Sleep(time.Millisecond)
	}
	if err := client.Flush(ctx); err != nil {
		return n, err
	}
	return n, first.Err()
}

// read takes counts until the context ends.
func (a *acknowledging) read(ctx context.Context, broker, topic string, committed bool) error {
	level := kgo.ReadUncommitted()
	if committed {
		level = kgo.ReadCommitted()
	}
	from := map[int32]kgo.Offset{}
	for p := range int32(4) {
		from[p] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(level))
	if err != nil {
		return err
	}
	defer client.Close()
	var row struct {
		User  string `json:"user_id"`
		Count int64  `json:"count"`
	}
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		at := time.Now()
		for it := fetches.RecordIter(); !it.Done(); {
			if err := json.Unmarshal(it.Next().Value, &row); err != nil {
				return err
			}
			user, err := strconv.Atoi(strings.TrimPrefix(row.User, "u"))
			if err != nil || user >= latencyUsers {
				return fmt.Errorf("unknown user %q", row.User)
			}
			if err := a.acknowledge(user, row.Count, at); err != nil {
				return err
			}
		}
	}
}

func (a *acknowledging) acknowledge(user int, count int64, at time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if count > int64(len(a.sent[user])) {
		return fmt.Errorf("user %d has %d records and was counted %d times", user, len(a.sent[user]), count)
	}
	for ; a.have[user] < count; a.have[user]++ {
		sent := a.sent[user][a.have[user]]
		a.seen++
		if sent.After(a.warm) {
			a.waits = append(a.waits, at.Sub(sent))
		}
	}
	return nil
}
