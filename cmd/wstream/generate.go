package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/internal/generate"
)

func (p *program) generateCommand() *cli.Command {
	var subs []*cli.Command
	for _, k := range generate.Kinds() {
		subs = append(subs, &cli.Command{
			Name: k.Name, Usage: k.Doc, Description: "The lines read back as: " + k.Schema,
			Flags: []cli.Flag{
				&cli.IntFlag{Name: "rows", Value: 100_000, Usage: "`N` rows"},
				&cli.StringFlag{Name: "out", Usage: "write files into `DIR`"},
				&cli.IntFlag{Name: "files", Value: 1, Usage: "spread over `N` files"},
				&cli.StringFlag{Name: "broker", Usage: "write to Kafka at `ADDR` instead"},
				&cli.StringFlag{Name: "topic", Usage: "the topic, with --broker; it must be there"},
				&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "equal seeds give equal bytes"},
				&cli.IntFlag{Name: "keys", Usage: "number of distinct keys; the kind's own if not given"},
			},
			Action: func(c *cli.Context) error { return p.generate(c, k) },
		})
	}
	return &cli.Command{Name: "generate", Usage: "sample and benchmark data, to files, Kafka or standard output", Subcommands: subs}
}

func (p *program) generate(c *cli.Context, k generate.Kind) error {
	rows := c.Int("rows")
	if rows < 0 || c.Int("files") < 1 {
		return invalid("flags --rows and --files must be positive")
	}
	summary := map[string]any{"rows": rows, "schema": k.Schema}
	switch {
	case c.String("broker") != "":
		if c.String("topic") == "" {
			return invalid("flag --broker needs --topic")
		}
		if err := p.generateKafka(c, k); err != nil {
			return environment(fmt.Errorf("kafka %s, topic %q: %w", c.String("broker"), c.String("topic"), err))
		}
		summary["topic"] = c.String("topic")
	case c.String("out") != "":
		f := generate.Files{Dir: c.String("out"), Rows: rows, Files: c.Int("files"), Seed: c.Uint64("seed"), Keys: c.Int("keys")}
		if err := f.Write(c.Context, k); err != nil {
			return err
		}
		summary["out"] = f.Dir
	default:
		r := k.Rows(generate.Part{Seed: c.Uint64("seed"), Total: rows, Keys: c.Int("keys")})
		var buf []byte
		for i := 0; i < rows; i++ {
			buf = append(r.Append(buf), '\n')
			if len(buf) > 1<<16 || i == rows-1 {
				if _, err := p.out.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
			if i%4096 == 0 && c.Context.Err() != nil {
				return c.Context.Err()
			}
		}
		return nil
	}
	p.succeed("generate", fmt.Sprintf("%s of %s written; they read back as: %s", count(rows, "row"), k.Name, k.Schema), summary)
	return nil
}

func (p *program) generateKafka(c *cli.Context, k generate.Kind) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.String("broker"), ",")...), kgo.DefaultProduceTopic(c.String("topic")), kgo.ProducerLinger(0), kgo.MaxBufferedRecords(100_000),
		kgo.RecordDeliveryTimeout(time.Minute), kgo.UnknownTopicRetries(2))
	if err != nil {
		return err
	}
	defer cl.Close()
	reached, cancel := context.WithTimeout(c.Context, 10*time.Second)
	defer cancel()
	if err := cl.Ping(reached); err != nil {
		return fmt.Errorf("cannot be reached: %w; is the broker started, and its address right?", err)
	}
	r := k.Rows(generate.Part{Seed: c.Uint64("seed"), Total: c.Int("rows"), Keys: c.Int("keys")})
	var failed atomic.Pointer[error]
	for i := 0; i < c.Int("rows") && failed.Load() == nil; i++ {
		value := r.Append(nil)
		rec := &kgo.Record{Value: value}
		if k.Key != "" {
			rec.Key = jsonString(value, k.Key)
		}
		cl.Produce(c.Context, rec, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		})
	}
	if err := cl.Flush(c.Context); err != nil {
		return err
	}
	if e := failed.Load(); e != nil {
		return *e
	}
	return nil
}

// jsonString is the value of a string field of a line that the generator wrote.
func jsonString(line []byte, field string) []byte {
	_, after, ok := strings.Cut(string(line), `"`+field+`":"`)
	if !ok {
		return nil
	}
	v, _, _ := strings.Cut(after, `"`)
	return []byte(v)
}
