package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/testservice"
)

func (c *cluster) sink(pairs ...string) *sink {
	c.t.Helper()
	s, err := newSink(c.env(), c.options(pairs...))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { s.Close() })
	return s.(*sink)
}

// write writes a batch as the engine does.
func (c *cluster) write(s *sink, batch int64, b *columnar.Batch, points ...failpoint.Rule) error {
	c.t.Helper()
	w, err := s.Begin(c.t.Context(), connector.BatchInfo{QueryID: s.env.QueryID, BatchID: batch, Schema: b.Schema, Failpoints: failpoint.New(points...)})
	if err != nil {
		return err
	}
	if err := w.Write(c.t.Context(), b); err != nil {
		return errors.Join(err, w.Abort(c.t.Context()))
	}
	return w.Commit(c.t.Context())
}

func (c *cluster) mustWrite(s *sink, batch int64, values ...string) {
	c.t.Helper()
	if err := c.write(s, batch, rows(values...)); err != nil {
		c.t.Fatal(err)
	}
}

// eachCluster runs a test against the broker of the test's own process, and against a real one where there is one.
func eachCluster(t *testing.T, f func(t *testing.T, c *cluster)) {
	t.Run("fake", func(t *testing.T) { f(t, fakeCluster(t)) })
	t.Run("real", func(t *testing.T) { f(t, newCluster(t, testservice.Kafka(t))) })
}

func fresh(name string) string { return name + time.Now().Format("-150405.000000") }

func TestSinkReplay(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("replay"), 1)
		s := c.sink("topic", topic)
		c.mustWrite(s, 0, "a", "b")
		c.mustWrite(s, 1)
		c.mustWrite(s, 2, "c")
		again := c.sink("topic", topic) // as after a crash between the sink and the commit entry
		c.mustWrite(again, 2, "c")
		c.mustWrite(again, 3, "d")
		c.equal(c.values(topic), "a", "b", "c", "d")
		if err := c.write(s, 3, rows("zombie")); err == nil {
			t.Error("an earlier process still writes")
		} else if !strings.Contains(err.Error(), "another process") {
			t.Errorf("zombie: %v", err)
		}
		c.equal(c.values(topic), "a", "b", "c", "d")
	})
}

func TestSinkCrashPoints(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("points"), 1)
		for i, p := range []string{failpoint.SinkPartial, failpoint.SinkStaged} {
			s := c.sink("topic", topic)
			err := c.write(s, int64(i), rows("x", "y", "z"), failpoint.Rule{Name: p, Batch: failpoint.AnyBatch, Nth: 1, Action: failpoint.Err})
			if err == nil {
				t.Fatalf("%s did not come by", p)
			}
			if err := c.write(s, int64(i), rows("more")); err == nil || !strings.Contains(err.Error(), "given up") {
				t.Errorf("%s: a broken sink goes on: %v", p, err)
			}
			c.mustWrite(c.sink("topic", topic), int64(i), "x", "y", "z")
		}
		c.equal(c.values(topic), "x", "y", "z", "x", "y", "z")
	})
}

// TestSinkOpenTransaction leaves a transaction open, as kill -9 does: the next start must not wait for its time-out.
func TestSinkOpenTransaction(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("open"), 1)
		dead := c.sink("topic", topic)
		w, err := dead.Begin(t.Context(), connector.BatchInfo{BatchID: 0, Schema: sinkSchema()})
		if err != nil {
			t.Fatal(err)
		}
		b := w.(*batchWriter)
		if err := errors.Join(b.Write(t.Context(), rows("half")), b.send(t.Context(), false), b.flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		s := c.sink("topic", topic)
		if err := s.Recover(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		c.mustWrite(s, 0, "half", "whole")
		c.equal(c.values(topic), "half", "whole")
	})
}

// TestSinkLostAnswer ends the transaction behind the client's back, as when the answer to its request is lost.
func TestSinkLostAnswer(t *testing.T) {
	for _, happened := range []bool{true, false} {
		t.Run(fmt.Sprintf("committed %t", happened), func(t *testing.T) {
			eachCluster(t, func(t *testing.T, k *cluster) {
				topic := k.topic(fresh("answer"), 1)
				s := k.sink("topic", topic)
				k.mustWrite(s, 0, "a")
				info := connector.BatchInfo{QueryID: s.env.QueryID, BatchID: 1, Schema: sinkSchema()}
				w, err := s.Begin(t.Context(), info)
				if err != nil {
					t.Fatal(err)
				}
				b := w.(*batchWriter)
				if err := errors.Join(b.Write(t.Context(), rows("b")), b.send(t.Context(), false), b.flush(t.Context()),
					s.ledger.record(t.Context(), b.id, b.epoch, []string{topic}, info)); err != nil {
					t.Fatal(err)
				}
				req := kmsg.NewPtrEndTxnRequest()
				req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = s.id, b.id, b.epoch, happened
				if _, err := req.RequestWith(t.Context(), s.client.Client); err != nil {
					t.Fatal(err)
				}
				if err := b.end(t.Context()); (err == nil) != happened {
					t.Errorf("end: %v", err)
				}
				k.mustWrite(k.sink("topic", topic), 1, "b")
				k.equal(k.values(topic), "a", "b")
			})
		})
	}
}

func TestSinkTimeout(t *testing.T) {
	k := fakeCluster(t)
	topic := k.topic("t", 1)
	s := k.sink("topic", topic, "kafka.transaction.timeout.ms", "300")
	w, err := s.Begin(t.Context(), connector.BatchInfo{BatchID: 0, Schema: sinkSchema()})
	if err != nil {
		t.Fatal(err)
	}
	b := w.(*batchWriter)
	if err := errors.Join(b.Write(t.Context(), rows("early")), b.send(t.Context(), false), b.flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for { // until the broker has ended the transaction
		ts, err := k.admin.DescribeTransactions(t.Context(), s.id)
		if err != nil {
			t.Fatal(err)
		}
		if d := ts[s.id]; d.State != "Ongoing" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the transaction stays open")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := b.Write(t.Context(), rows("late")); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context()); err == nil {
		t.Error("half a batch was committed")
	}
	k.mustWrite(k.sink("topic", topic), 0, "early", "late")
	k.equal(k.values(topic), "early", "late")
}

func TestSinkColumns(t *testing.T) {
	k := fakeCluster(t)
	k.topic("one", 3)
	k.topic("two", 3)
	headers := columnar.ArrayOf(columnar.StructOf(columnar.Field{Name: "key", Type: columnar.String, Nullable: true}, columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}), true)
	hb := columnar.NewBuilder(headers, 3)
	for range 2 {
		for _, v := range []string{"1", ""} {
			hb.Child(0).Child(0).AppendBytes([]byte("h"))
			if v == "" {
				hb.Child(0).Child(1).AppendNull()
			} else {
				hb.Child(0).Child(1).AppendBytes([]byte(v))
			}
			hb.Child(0).AppendNested()
		}
		hb.AppendNested()
	}
	hb.AppendNull()
	vb := columnar.NewBuilder(columnar.Binary, 3)
	vb.AppendBytes([]byte("x"))
	vb.AppendNull()
	vb.AppendBytes([]byte{})
	s := columnar.NewSchema(columnar.Field{Name: "TOPIC", Type: columnar.String}, columnar.Field{Name: "partition", Type: columnar.Int32, Nullable: true},
		columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}, columnar.Field{Name: "headers", Type: headers, Nullable: true})
	b := columnar.NewBatch(s, []*columnar.Column{columnar.NewStrings([]string{"one", "two", "one"}), columnar.NewFixed(columnar.Int32, []int32{2, 1, 0}, nil), vb.Finish(), hb.Finish()}, 3)
	if err := k.write(k.sink(), 0, b); err != nil {
		t.Fatal(err)
	}
	one, two := k.read("one"), k.read("two")
	if len(one) != 2 || one[0].Partition != 0 || one[0].Value == nil || len(one[0].Value) != 0 || one[0].Headers != nil || one[1].Partition != 2 || string(one[1].Value) != "x" || one[1].Key != nil {
		t.Errorf("topic one: %+v", one)
	}
	if len(two) != 1 || two[0].Partition != 1 || two[0].Value != nil {
		t.Fatalf("topic two: %+v", two)
	}
	if h := two[0].Headers; len(h) != 2 || h[0].Key != "h" || string(h[0].Value) != "1" || h[1].Key != "h" || h[1].Value != nil {
		t.Errorf("headers: %+v", h)
	}
	if err := k.write(k.sink("topic", "one"), 0, columnar.NewBatch(s, b.Columns, 3)); err != nil {
		t.Errorf("option topic beside a column: %v", err)
	}
}

func TestSinkRefusals(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1)
	field := func(name string, ty *columnar.Type) columnar.Field {
		return columnar.Field{Name: name, Type: ty, Nullable: true}
	}
	for _, c := range []struct {
		name   string
		schema *columnar.Schema
		opts   []string
		want   string
	}{
		{"no topic", columnar.NewSchema(field("value", columnar.String)), nil, `set option "topic"`},
		{"no value", columnar.NewSchema(field("key", columnar.String)), []string{"topic", "t"}, `needs a column "value"`},
		{"value INT", columnar.NewSchema(field("value", columnar.Int32)), []string{"topic", "t"}, `is INT, expected STRING or BINARY`},
		{"partition BIGINT", columnar.NewSchema(field("value", columnar.String), field("partition", columnar.Int64)), []string{"topic", "t"}, `expected INT`},
		{"topic BINARY", columnar.NewSchema(field("value", columnar.String), field("topic", columnar.Binary)), nil, `expected STRING`},
		{"headers", columnar.NewSchema(field("value", columnar.String), field("headers", columnar.String)), []string{"topic", "t"}, `ARRAY<STRUCT`},
		{"no transaction", sinkSchema(), []string{"topic", "t", "transactional", "false", "kafka.transactional.id", "x"}, `no meaning`},
		{"acks", sinkSchema(), []string{"topic", "t", "kafka.acks", "1"}, `expected all`},
		{"serializer", sinkSchema(), []string{"topic", "t", "kafka.value.serializer", "X"}, `change them in the query`},
		{"unknown", sinkSchema(), []string{"topic", "t", "kafka.acs", "1"}, `no option "acs"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := k.env()
			env.Schema = c.schema
			if s, err := newSink(env, k.options(c.opts...)); err == nil {
				s.Close()
				t.Error("no error")
			} else if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	nullTopic := columnar.NewBatch(columnar.NewSchema(field("value", columnar.String), field("topic", columnar.String)),
		[]*columnar.Column{columnar.NewStrings([]string{"v"}), columnar.NewNull(columnar.String, 1)}, 1)
	if err := k.write(k.sink(), 0, nullTopic); sparkerr.Condition(err) != "KAFKA_NULL_TOPIC_IN_DATA" {
		t.Errorf("null topic: %v", err)
	}
	out := columnar.NewBatch(columnar.NewSchema(field("value", columnar.String), field("partition", columnar.Int32)),
		[]*columnar.Column{columnar.NewStrings([]string{"v"}), columnar.NewFixed(columnar.Int32, []int32{7}, nil)}, 1)
	if err := k.write(k.sink("topic", "t"), 0, out); err == nil || !strings.Contains(err.Error(), "partitioning choice of 7 from 1") {
		t.Errorf("partition 7: %v", err)
	}
	if err := k.write(k.sink("topic", "nowhere"), 0, rows("v")); err == nil || !strings.Contains(err.Error(), "make the topic first") {
		t.Errorf("missing topic: %v", err)
	}
	if err := k.write(k.sink("topic", "t"), 0, rows(strings.Repeat("x", 2<<20))); err == nil || !strings.Contains(err.Error(), "kafka.max.request.size") {
		t.Errorf("a great record: %v", err)
	}
	k.equal(k.values("t"))
}

func TestSinkAtLeastOnce(t *testing.T) {
	k := fakeCluster(t)
	topic := k.topic("t", 1)
	s := k.sink("topic", topic, "transactional", "false")
	k.mustWrite(s, 0, "a")
	k.mustWrite(k.sink("topic", topic, "transactional", "false"), 0, "a")
	k.equal(k.values(topic), "a", "a")
}

// TestSinkForgotten replays a batch so long after that the brokers no longer know of it.
func TestSinkForgotten(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1)
	old := connector.BatchInfo{BatchID: 4, Schema: sinkSchema(), Replay: true, BatchTime: time.Now().Add(-8 * 24 * time.Hour).UnixMicro()}
	if _, err := k.sink("topic", "t").Begin(t.Context(), old); err == nil || !strings.Contains(err.Error(), "failOnUnknownBatch") {
		t.Errorf("got %v", err)
	}
	if _, err := k.sink("topic", "t", "failOnUnknownBatch", "false").Begin(t.Context(), old); err != nil {
		t.Error(err)
	}
}

func TestBrokerAway(t *testing.T) {
	k := fakeCluster(t)
	k.fake.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var away *connector.UnavailableError
	s := k.sink("topic", "t")
	if err := s.client.reachWithin(ctx, 300*time.Millisecond); !errors.As(err, &away) || !strings.Contains(err.Error(), k.address) {
		t.Errorf("sink: %v", err)
	}
}

func TestSecurity(t *testing.T) {
	scram := `org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p\"w";`
	k := fakeCluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", `p"w`), kfake.Superuser("SCRAM-SHA-512", "u", `p"w`), kfake.Superuser("PLAIN", "u", `p"w`))
	login := func(mechanism, jaas string) error {
		s, err := newSink(k.env(), k.options("topic", "t", "kafka.security.protocol", "SASL_PLAINTEXT", "kafka.sasl.mechanism", mechanism, "kafka.sasl.jaas.config", jaas))
		if err != nil {
			return err
		}
		defer s.Close()
		return s.(*sink).client.reach(t.Context())
	}
	for m, jaas := range map[string]string{"SCRAM-SHA-256": scram, "SCRAM-SHA-512": scram, "PLAIN": strings.NewReplacer("scram.Scram", "plain.Plain").Replace(scram)} {
		if err := login(m, jaas); err != nil {
			t.Errorf("%s: %v", m, err)
		}
		var away *connector.UnavailableError
		if err := login(m, strings.Replace(jaas, `p\"w`, "wrong", 1)); !errors.As(err, &away) {
			t.Errorf("%s with a wrong password: %v", m, err)
		}
	}
	for _, c := range [][]string{
		{"kafka.security.protocol", "SASL", "expected PLAINTEXT, SSL"},
		{"kafka.sasl.mechanism", "PLAIN", "no meaning with kafka.security.protocol PLAINTEXT"},
		{"kafka.ssl.truststore.location", "x.pem", "no meaning with kafka.security.protocol PLAINTEXT"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "GSSAPI", "Kerberos"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "PLAIN", "kafka.sasl.jaas.config\" is missing"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "PLAIN", "kafka.sasl.jaas.config", scram, "expected PlainLoginModule"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "PLAIN", "kafka.sasl.jaas.config", "a.PlainLoginModule required username=u", "semicolon"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "OAUTHBEARER", "kafka.sasl.jaas.config", "a.OAuthBearerLoginModule required;", "file://"},
		{"kafka.security.protocol", "SASL_SSL", "kafka.sasl.login.class", "X", "not supported"},
		{"kafka.security.protocol", "SSL", "kafka.ssl.truststore.type", "JKS", "keytool"},
		{"kafka.security.protocol", "SSL", "kafka.ssl.truststore.location", "nowhere.pem", "no such file"},
		{"kafka.security.protocol", "SSL", "kafka.ssl.truststore.certificates", "text", "no certificate in PEM"},
		{"kafka.security.protocol", "SSL", "kafka.ssl.key.password", "x", "openssl pkey"},
		{"kafka.security.protocol", "SSL", "kafka.ssl.enabled.protocols", "TLSv1", "expected TLSv1.2"},
	} {
		want := c[len(c)-1]
		if s, err := newSink(k.env(), k.options(append([]string{"topic", "t"}, c[:len(c)-1]...)...)); err == nil {
			s.Close()
			t.Errorf("%q: no error", c)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", c, err)
		} else if strings.Contains(err.Error(), `p"w`) {
			t.Errorf("%q: the error shows the password", c)
		}
	}
}
