package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/bench/reference"
)

// fromFiles is the whole path from JSON files to result files: filter, 10-minute windows, count, sum and mean per url.
func fromFiles() []measurement {
	const job = "clicks, files to files"
	return []measurement{
		{job: job, way: "plain loop", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
			in, err := e.clicks(ctx)
			return func(context.Context) (outcome, error) {
				out, err := e.fresh("plain")
				if err != nil {
					return outcome{}, err
				}
				w, err := reference.Files(in, out, e.cores)
				if err != nil {
					return outcome{}, err
				}
				return outcome{rows: w.Rows, answer: w.Answer()}, nil
			}, err
		}},
		{job: job, way: "wstream run", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
			if _, err := e.binary(); err != nil {
				return nil, err
			}
			in, err := e.clicks(ctx)
			return func(ctx context.Context) (outcome, error) {
				out, err := e.fresh("wstream")
				if err != nil {
					return outcome{}, err
				}
				o, err := e.peer(ctx, "clicks-files", "BENCH_IN="+in, "BENCH_OUT="+out, "BENCH_FORMAT=json")
				if err == nil {
					o.answer, err = filesAnswer(out)
				}
				return o, err
			}, err
		}},
	}
}

// fromKafka is the same from a topic of 4 partitions to a topic, in transactions.
func fromKafka() []measurement {
	const job = "clicks, Kafka to Kafka"
	return []measurement{
		{job: job, way: "plain loop", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
			broker, in, err := e.clicksTopic(ctx)
			return func(ctx context.Context) (outcome, error) {
				out, err := e.topic(ctx, "out", 4)
				if err != nil {
					return outcome{}, err
				}
				w, err := reference.Kafka(ctx, broker, in, out)
				if err != nil {
					return outcome{}, err
				}
				return outcome{rows: w.Rows, answer: w.Answer()}, nil
			}, err
		}},
		betweenTopics(job, "clicks-kafka", "out", topicAnswer),
	}
}

// betweenTopics is what `wstream run` makes of the clicks' topic by a workload of bench/peer, and the answer that it has left
// in the other topic.
func betweenTopics(job, workload, to string, answer func(ctx context.Context, broker, topic string) (string, error)) measurement {
	return measurement{job: job, way: "wstream run", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
		if _, err := e.binary(); err != nil {
			return nil, err
		}
		broker, in, err := e.clicksTopic(ctx)
		return func(ctx context.Context) (outcome, error) {
			out, err := e.topic(ctx, to, 4)
			if err != nil {
				return outcome{}, err
			}
			o, err := e.peer(ctx, workload, "BENCH_BROKER="+broker, "BENCH_IN="+in, "BENCH_OUT="+out)
			if err == nil {
				o.answer, err = answer(ctx, broker, out)
			}
			return o, err
		}, err
	}}
}

// peer runs bench/peer, which runs the binary, and takes its times from the operating system.
func (e *env) peer(ctx context.Context, workload string, vars ...string) (outcome, error) {
	checkpoint, err := e.fresh("checkpoint")
	if err != nil {
		return outcome{}, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(e.root, "bench", "peer"), workload)
	cmd.Env = append(os.Environ(), append(vars, "BENCH_CKPT="+checkpoint, fmt.Sprint("BENCH_BATCH=", max(1, e.rows/10)))...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		text := said.String()
		return outcome{}, fmt.Errorf("bench/peer %s: %w: %s", workload, err, strings.TrimSpace(text[max(0, len(text)-500):]))
	}
	return outcome{
		rows:    e.rows,
		elapsed: time.Since(begin),
		cpu:     cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}, nil
}

// filesAnswer tallies the JSON files of a folder.
func filesAnswer(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return "", err
	}
	var t reference.Tally
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		for line := range bytes.Lines(b) {
			if err := tally(&t, line); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return t.String(), nil
}

// tally adds one result row, a JSON object.
func tally(t *reference.Tally, row []byte) error {
	var v struct {
		Count int64   `json:"cnt"`
		Total float64 `json:"total"`
	}
	if err := json.Unmarshal(row, &v); err != nil {
		return fmt.Errorf("result row %q: %w", row, err)
	}
	t.Add(v.Count, v.Total)
	return nil
}

// topicAnswer tallies the committed records of a topic.
func topicAnswer(ctx context.Context, broker, topic string) (string, error) {
	var t reference.Tally
	err := reference.Read(ctx, broker, topic, func(value []byte) error { return tally(&t, value) })
	return t.String(), err
}

// topic makes a new topic.
func (e *env) topic(ctx context.Context, name string, partitions int32) (string, error) {
	broker, err := e.kafka(ctx)
	if err != nil {
		return "", err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return "", err
	}
	defer client.Close()
	e.topics++
	name = fmt.Sprintf("bench-%d-%s-%d", os.Getpid(), name, e.topics)
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, partitions, 1, nil, name); err != nil {
		return "", fmt.Errorf("topic %q: %w", name, err)
	}
	// A broker of the user's own is left as it was.
	e.stop = append(e.stop, func() error {
		client, err := kgo.NewClient(kgo.SeedBrokers(broker))
		if err != nil {
			return err
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err = kadm.NewClient(client).DeleteTopics(ctx, name)
		return err
	})
	return name, nil
}

// clicksTopic is a topic that holds the clicks, keyed by url.
func (e *env) clicksTopic(ctx context.Context) (broker, topic string, err error) {
	if broker, err = e.kafka(ctx); err != nil || e.clicksIn != "" {
		return broker, e.clicksIn, err
	}
	dir, err := e.clicks(ctx)
	if err != nil {
		return "", "", err
	}
	if topic, err = e.topic(ctx, "clicks", 4); err != nil {
		return "", "", err
	}
	if err := reference.Load(ctx, broker, topic, dir); err != nil {
		return "", "", err
	}
	e.clicksIn = topic
	return broker, topic, nil
}
