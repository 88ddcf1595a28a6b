package kafka

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/engine/connector"
)

// setting says what is done with one option of Kafka's own clients.
type setting struct {
	name   string
	refuse string                          // why it may not be given
	apply  func(v string) (kgo.Opt, error) // nil: read elsewhere
	quiet  bool                            // it has no effect here, and a warning says so
}

// clientSettings turns kafka.* options into those of the client. Security is not among them.
func clientSettings(env connector.Env, o connector.Options) ([]kgo.Opt, error) {
	var opts []kgo.Opt
	for _, name := range o.Names() {
		if len(name) < 6 || !strings.EqualFold(name[:6], "kafka.") {
			continue
		}
		key := strings.ToLower(name[6:])
		s, ok := findSetting(key)
		switch {
		case !ok:
			return nil, fmt.Errorf("option %q: Kafka's clients have no option %q", name, key)
		case s.refuse != "":
			return nil, fmt.Errorf("option %q: %s", name, s.refuse)
		case s.quiet:
			if env.Warn != nil {
				env.Warn("option %q has no effect here", name)
			}
		case s.apply != nil:
			v, _ := o.Get(name)
			opt, err := s.apply(strings.TrimSpace(v))
			if err != nil {
				return nil, fmt.Errorf("option %q: %w", name, err)
			}
			opts = append(opts, opt)
		}
	}
	return opts, nil
}

func findSetting(key string) (setting, bool) {
	for _, s := range settings() {
		if s.name == key {
			return s, true
		}
	}
	if strings.HasPrefix(key, "sasl.") || strings.HasPrefix(key, "ssl.") {
		return setting{name: key}, true // security says what it does not know
	}
	return setting{}, false
}

// settings lists the options of Kafka's producers, consumers and of clients in general.
func settings() []setting {
	duration := func(f func(time.Duration) kgo.Opt) func(string) (kgo.Opt, error) {
		return func(v string) (kgo.Opt, error) {
			d, err := connector.ParseDuration(v)
			if err == nil && d < 0 {
				err = fmt.Errorf("found %q, expected a duration of 0 or more", v)
			}
			return f(d), err
		}
	}
	size := func(f func(int64) kgo.Opt) func(string) (kgo.Opt, error) {
		return func(v string) (kgo.Opt, error) {
			n, err := connector.ParseBytes(v)
			return f(n), err
		}
	}
	list := []setting{
		{name: "client.rack", apply: func(v string) (kgo.Opt, error) { return kgo.Rack(v), nil }},
		{name: "request.timeout.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.RequestTimeoutOverhead(d) })},
		{name: "default.api.timeout.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.RetryTimeout(d) })},
		{name: "metadata.max.age.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.MetadataMaxAge(d) })},
		{name: "connections.max.idle.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.ConnIdleTimeout(d) })},
		{name: "socket.connection.setup.timeout.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.DialTimeout(d) })},
		{name: "delivery.timeout.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.RecordDeliveryTimeout(d) })},
		{name: "linger.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.ProducerLinger(d) })},
		{name: "transaction.timeout.ms", apply: duration(func(d time.Duration) kgo.Opt { return kgo.TransactionTimeout(d) })},
		{name: "max.request.size", apply: size(func(n int64) kgo.Opt { return kgo.ProducerBatchMaxBytes(int32(min(n, 1<<30))) })},
		{name: "buffer.memory", apply: size(func(n int64) kgo.Opt { return kgo.MaxBufferedBytes(int(n)) })},
		{name: "compression.type", apply: compression},
		{name: "acks", apply: acks},
		{name: "enable.idempotence", apply: idempotence},
		{name: "bootstrap.servers"},
		{name: "client.id"},
		{name: "group.id"},
		{name: "isolation.level"},
		{name: "transactional.id"},
		{name: "security.protocol"},
		{name: "max.partition.fetch.bytes"},
		{name: "fetch.max.bytes"},
		{name: "fetch.min.bytes"},
		{name: "fetch.max.wait.ms"},
		{name: "auto.offset.reset", refuse: "use startingOffsets to say where a query begins; the checkpoint keeps the offsets"},
		{name: "enable.auto.commit", refuse: "offsets are committed with their batch, never by the client"},
		{name: "interceptor.classes", refuse: "there are no interceptors here"},
		{name: "key.serializer", refuse: "keys are BINARY or STRING columns; change them in the query"},
		{name: "value.serializer", refuse: "values are BINARY or STRING columns; change them in the query"},
		{name: "key.deserializer", refuse: "keys are BINARY columns; decode them in the query"},
		{name: "value.deserializer", refuse: "values are BINARY columns; decode them in the query"},
		{name: "partitioner.class", refuse: "rows go to partitions by key as Kafka does it, or by the column \"partition\""},
	}
	for _, n := range []string{
		"batch.size", "send.buffer.bytes", "receive.buffer.bytes", "reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms",
		"retry.backoff.max.ms", "retries", "max.in.flight.requests.per.connection", "max.block.ms", "metadata.max.idle.ms", "client.dns.lookup",
		"socket.connection.setup.timeout.max.ms", "session.timeout.ms", "heartbeat.interval.ms", "max.poll.records", "max.poll.interval.ms",
		"check.crcs", "exclude.internal.topics", "allow.auto.create.topics", "partition.assignment.strategy", "group.instance.id",
		"group.protocol", "metric.reporters", "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms",
		"enable.metrics.push", "partitioner.ignore.keys", "partitioner.adaptive.partitioning.enable", "metadata.recovery.strategy",
		"compression.gzip.level", "compression.lz4.level", "compression.zstd.level",
	} {
		list = append(list, setting{name: n, quiet: true})
	}
	return list
}

func compression(v string) (kgo.Opt, error) {
	var c kgo.CompressionCodec
	switch strings.ToLower(v) {
	case "none":
		c = kgo.NoCompression()
	case "gzip":
		c = kgo.GzipCompression()
	case "snappy":
		c = kgo.SnappyCompression()
	case "lz4":
		c = kgo.Lz4Compression()
	case "zstd":
		c = kgo.ZstdCompression()
	default:
		return nil, fmt.Errorf("found %q, expected none, gzip, snappy, lz4 or zstd", v)
	}
	return kgo.ProducerBatchCompression(c), nil
}

func acks(v string) (kgo.Opt, error) {
	if v != "all" && v != "-1" {
		return nil, fmt.Errorf("found %q, expected all: with less a broker that fails takes committed rows along", v)
	}
	return kgo.RequiredAcks(kgo.AllISRAcks()), nil
}

func idempotence(v string) (kgo.Opt, error) {
	if !strings.EqualFold(v, "true") {
		return nil, fmt.Errorf("found %q, expected true: without it a request that is sent again writes its rows twice", v)
	}
	return kgo.RequiredAcks(kgo.AllISRAcks()), nil
}
