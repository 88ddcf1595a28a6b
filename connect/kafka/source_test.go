package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
)

func TestControlRecords(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("control"), 1)
		var values []string
		for i := range 100 {
			values = append(values, fmt.Sprint(i))
		}
		c.transact(topic, 0, kgo.TryCommit, values...)
		c.settled(t.Context(), topic)
		s := c.source("subscribe", topic, "startingOffsets", "earliest", "kafka.isolation.level", "read_committed")
		if err := s.Fix(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		got, end := c.must(s, nil)
		c.equal(got, values...)
		if want := fmt.Sprintf(`{"%s":{"0":101}}`, topic); string(end) != want {
			t.Errorf("end %s, want %s", end, want)
		}
		if got, next := c.must(s, end); len(got) > 0 || string(next) != string(end) {
			t.Errorf("after the end: %q %s", got, next)
		}
	})
}

func TestAborted(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("aborted"), 1)
		c.transact(topic, 0, kgo.TryAbort, "a1", "a2", "a3", "a4", "a5")
		c.transact(topic, 0, kgo.TryCommit, "c1", "c2", "c3", "c4", "c5")
		c.transact(topic, 0, kgo.TryAbort, "a6")
		c.settled(t.Context(), topic)
		got, _ := c.must(c.source("subscribe", topic, "startingOffsets", "earliest", "kafka.isolation.level", "read_committed"), nil)
		c.equal(got, "c1", "c2", "c3", "c4", "c5")
		got, _ = c.must(c.source("subscribe", topic, "startingOffsets", "earliest"), nil)
		c.equal(got, "a1", "a2", "a3", "a4", "a5", "c1", "c2", "c3", "c4", "c5", "a6")
		// One record a batch: the aborted transaction may begin before the range.
		s := c.source("subscribe", topic, "startingOffsets", "earliest", "kafka.isolation.level", "read_committed", "maxOffsetsPerTrigger", "1")
		var all []string
		for at := connector.Offset(nil); ; {
			v, end := c.must(s, at)
			if string(end) == string(at) {
				break
			}
			all, at = append(all, v...), end
		}
		c.equal(all, "c1", "c2", "c3", "c4", "c5")
	})
}

func TestLost(t *testing.T) {
	eachCluster(t, func(t *testing.T, k *cluster) {
		topic := k.topic(fresh("lost"), 1)
		for i := range 6 {
			k.put(topic, 0, fmt.Sprint(i))
		}
		gone := kadm.Offsets{}
		gone.AddOffset(topic, 0, 4, -1)
		if _, err := k.admin.DeleteRecords(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		at := connector.Offset(fmt.Sprintf(`{"%s":{"0":2}}`, topic))
		_, _, err := k.batch(k.source("subscribe", topic), at)
		if err == nil || !strings.Contains(err.Error(), "offsets 2 to 3 are gone") || sparkerr.Condition(err) != "KAFKA_DATA_LOSS.START_OFFSET_RESET" {
			t.Errorf("failOnDataLoss: %v", err)
		}
		s := k.source("subscribe", topic, "failOnDataLoss", "false")
		got, end := k.must(s, at)
		k.equal(got, "4", "5")
		if !strings.Contains(k.warn.all(), "offsets 2 to 3 are gone") {
			t.Errorf("warnings: %s", k.warn.all())
		}
		// The same range again, as after a crash.
		got, err = k.replay(k.source("subscribe", topic, "failOnDataLoss", "false"), at, end)
		if err != nil {
			t.Error(err)
		}
		k.equal(got, "4", "5")
		if _, err = k.replay(k.source("subscribe", topic), at, end); sparkerr.Condition(err) != "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE" {
			t.Errorf("replay of what is gone: %v", err)
		}
	})
}

// TestTopicMadeAgain deletes a topic and makes it again with fewer, as many and more records: its id tells.
func TestTopicMadeAgain(t *testing.T) {
	for _, count := range []int{0, 1, 3, 5} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			eachCluster(t, func(t *testing.T, k *cluster) {
				topic, log := k.topic(fresh("again"), 2), &memoryLog{}
				k.put(topic, 0, "0", "1", "2")
				k.put(topic, 1, "3")
				_, end := k.must(k.logged(log, "subscribe", topic, "startingOffsets", "earliest"), nil)
				if want := fmt.Sprintf(`{"%s":{"0":3,"1":1}}`, topic); string(end) != want {
					t.Errorf("end %s, want %s", end, want)
				}
				running := k.logged(log, "subscribe", topic, "failOnDataLoss", "false")
				k.put(topic, 0, "old")
				_, end = k.must(running, end)
				if _, err := k.admin.DeleteTopics(t.Context(), topic); err != nil {
					t.Fatal(err)
				}
				k.until(func() bool { // deleting goes on behind the broker's answer
					_, _, err := k.batch(k.logged(log, "subscribePattern", topic), end)
					return sparkerr.Condition(err) == "KAFKA_DATA_LOSS.PARTITIONS_DELETED"
				})
				if _, err := k.admin.CreateTopic(t.Context(), 2, 1, nil, topic); err != nil {
					t.Fatal(err)
				}
				var values []string
				for i := range count {
					values = append(values, fmt.Sprint("new", i))
				}
				newCluster(t, k.address).put(topic, 0, values...) // the old client still knows the old topic
				_, _, err := k.batch(k.logged(log.copy(), "subscribe", topic), end)
				if sparkerr.Condition(err) != "KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED" || !strings.Contains(err.Error(), "was deleted and made again (its id is ") ||
					!strings.Contains(err.Error(), "0: 4, 1: 1") {
					t.Errorf("made again: %v", err)
				}
				got, next := k.must(running, end)
				k.equal(got, values...)
				if again, err := k.replay(k.logged(log, "subscribe", topic), end, next); err != nil {
					t.Error(err)
				} else {
					k.equal(again, values...)
				}
				newCluster(t, k.address).put(topic, 1, "more")
				got, _ = k.must(k.logged(log, "subscribe", topic), next)
				k.equal(got, "more")
			})
		})
	}
}

func TestNewPartition(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1)
	k.put("t", 0, "old")
	s := k.source("subscribe", "t", "startingOffsets", "latest")
	_, at := k.must(s, nil)
	if _, err := k.admin.CreatePartitions(t.Context(), 1, "t"); err != nil {
		t.Fatal(err)
	}
	again := newCluster(t, k.address)
	again.put("t", 1, "early") // there before the source looks: still its rows count
	again.put("t", 0, "new")
	got, end := k.must(k.source("subscribe", "t"), at)
	k.equal(got, "new", "early")
	got, err := k.replay(k.source("subscribe", "t"), at, end)
	if err != nil {
		t.Fatal(err)
	}
	k.equal(got, "new", "early")
}

func TestStarting(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 2)
	k.stamped("t")
	for _, c := range []struct {
		options []string
		want    string
	}{
		{[]string{"startingOffsets", "earliest"}, "a0 a1 a2 a3 b0"},
		{[]string{"startingOffsets", "latest"}, ""},
		{[]string{"startingOffsets", `{"t":{"0":3,"1":-2}}`}, "a3 b0"},
		{[]string{"startingOffsets", `{"t":{"0":2,"1":-1}}`}, "a2 a3"},
		{[]string{"startingOffsets", `{"t":{"0":2}}`}, "error: says nothing of topic \"t\", partition 1"},
		{[]string{"startingOffsets", `{"t":{"0":9,"1":0}}`}, "error: PARTITION_OFFSET_CHANGED"},
		{[]string{"startingTimestamp", "1001"}, "a1 a2 a3 b0"},
		{[]string{"startingTimestamp", "1002"}, "error: no record at or after 1002"},
		{[]string{"startingTimestamp", "1002", "startingOffsetsByTimestampStrategy", "latest"}, "a2 a3"},
		{[]string{"startingOffsetsByTimestamp", `{"t":{"0":1003,"1":1000}}`}, "a3 b0"},
		{[]string{"startingTimestamp", "1001", "startingOffsetsByTimestamp", `{"t":{"0":1003,"1":1000}}`, "startingOffsets", "latest"}, "a1 a2 a3 b0"},
		{[]string{"startingOffsetsByTimestamp", `{"t":{"0":1003,"1":1000}}`, "startingOffsets", "latest"}, "a3 b0"},
		{[]string{"startingOffsetsByTimestamp", `{"t":{"0":1003,"1":1002}}`}, "error: no record at or after 1002"},
		{[]string{"startingOffsetsByTimestamp", `{"t":{"0":1003,"1":1002}}`, "startingOffsetsByTimestampStrategy", "latest"}, "a3"},
		{[]string{"startingOffsets", `{"t":{"0":2,"1":0,"2":0}}`}, "error: names topic \"t\", partition 2"},
		{[]string{"startingOffsetsByTimestamp", `{"t":{"0":1003}}`}, "error: says nothing of topic \"t\", partition 1"},
	} {
		got, _, err := k.batch(k.source(append([]string{"subscribe", "t"}, c.options...)...), nil)
		if want, bad := strings.CutPrefix(c.want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %q, %v; want %s", c.options, got, err, want)
			}
			continue
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, %v; want %s", c.options, got, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 2)
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint(i))
	}
	k.put("t", 0, many...)
	k.put("t", 1, "single")
	s := k.source("subscribe", "t", "startingOffsets", "earliest", "maxOffsetsPerTrigger", "10", "minPartitions", "8")
	first, at := k.must(s, nil)
	second, _ := k.must(s, at)
	if len(first) > 11 || len(second) > 11 || !strings.Contains(strings.Join(append(first, second...), " "), "single") {
		t.Errorf("batches %q, %q", first, second)
	}
	now := time.Now()
	w := k.source("subscribe", "t", "startingOffsets", "earliest", "minOffsetsPerTrigger", "5000", "maxTriggerDelay", "1m")
	w.env.Now = func() time.Time { return now }
	if got, _ := k.must(w, connector.Offset(`{"t":{"0":0,"1":0}}`)); len(got) != 1001 {
		t.Errorf("the first batch of a run waits: %d rows", len(got))
	}
	if got, _ := k.must(w, connector.Offset(`{"t":{"0":0,"1":0}}`)); got != nil {
		t.Errorf("fewer than minOffsetsPerTrigger: %d rows", len(got))
	}
	now = now.Add(time.Minute)
	if got, _ := k.must(w, connector.Offset(`{"t":{"0":0,"1":0}}`)); len(got) != 1001 {
		t.Errorf("after maxTriggerDelay: %d rows", len(got))
	}
}

func TestGreatRecordAndTombstone(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *cluster) {
		topic := c.topic(fresh("great"), 1)
		great := strings.Repeat("x", 130<<10)
		c.put(topic, 0, "small")
		c.put(topic, 0, great)
		c.put(topic, 0, "null", "")
		got, _ := c.must(c.source("subscribe", topic, "startingOffsets", "earliest", "kafka.max.partition.fetch.bytes", "1024", "kafka.fetch.max.bytes", "1024"), nil)
		c.equal(got, "small", great, "null", "")
	})
}

func TestHeaders(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1)
	r := record1("t", 0, "v")
	r.Headers = []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h", Value: nil}}
	if err := k.client.ProduceSync(t.Context(), r, record1("t", 0, "w")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	s := k.source("subscribe", "t", "startingOffsets", "earliest", "includeHeaders", "true")
	end, _, err := s.Next(t.Context(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := s.Plan(t.Context(), nil, end)
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	err = parts[0].Read(t.Context(), nil, func(ch connector.Chunk) error {
		d, err := ch.Decode(t.Context())
		if err != nil {
			return err
		}
		h := d.Batch.Columns[colHeaders]
		item := h.Children[0]
		if d.Batch.Rows != 2 || h.IsNull(0) || !h.IsNull(1) || item.Len != 2 || string(item.Children[1].BytesAt(0)) != "1" || !item.Children[1].IsNull(1) {
			t.Errorf("headers: %+v", item)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBrokerRestart cuts all connections in the middle of a read.
func TestBrokerRestart(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1)
	k.put("t", 0, "a", "b")
	s := k.source("subscribe", "t", "startingOffsets", "earliest")
	_, at := k.must(s, nil)
	dropped := 0
	k.fake.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
		if dropped++; dropped < 4 {
			k.fake.KeepControl()
			return nil, errors.New("connection cut"), true
		}
		return nil, nil, false
	})
	k.put("t", 0, "c")
	got, _ := k.must(s, at)
	k.equal(got, "c")
}

// TestCompacted reads a topic with holes: nothing twice, nothing waited for.
func TestCompacted(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 1, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0")
	for i := range 10 {
		r := record1("t", 0, fmt.Sprint(i))
		r.Key = fmt.Append(nil, i)
		if i >= 3 && i <= 5 { // overwritten by 9
			r.Key = []byte("9")
		}
		if err := k.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	k.fake.Compact()
	want := k.values("t")
	if len(want) == 10 {
		t.Fatal("nothing was compacted")
	}
	for _, limit := range []string{"0", "1", "4"} {
		s := k.source("subscribe", "t", "startingOffsets", "earliest", "maxOffsetsPerTrigger", limit)
		var all []string
		for at := connector.Offset(nil); ; {
			v, end := k.must(s, at)
			if string(end) == string(at) {
				break
			}
			all, at = append(all, v...), end
		}
		k.equal(all, want...)
	}
}

// TestEnding reads static tables between two places.
func TestEnding(t *testing.T) {
	eachCluster(t, func(t *testing.T, k *cluster) {
		topic := k.topic(fresh("ending"), 2)
		k.stamped(topic)
		for _, c := range []struct {
			options []string
			want    string
		}{
			{nil, "a0 a1 a2 a3 b0"},
			{[]string{"startingOffsets", `{"T":{"0":1,"1":-2}}`, "endingOffsets", `{"T":{"0":3,"1":-1}}`}, "a1 a2 b0"},
			{[]string{"endingTimestamp", "1002"}, "a0 a1 b0"},
			{[]string{"endingTimestamp", "1001", "endingOffsets", `{"T":{"0":4,"1":1}}`}, "a0"},
			{[]string{"endingOffsetsByTimestamp", `{"T":{"0":1001,"1":9999}}`}, "a0 b0"},
			{[]string{"startingTimestamp", "1001", "endingTimestamp", "1003"}, "a1 a2 b0"},
			{[]string{"startingOffsets", "latest"}, "error: cannot start at the latest"},
			{[]string{"startingOffsets", `{"T":{"0":-1,"1":0}}`}, "error: cannot start at the latest"},
			{[]string{"endingOffsets", "earliest"}, "error: cannot end at the earliest"},
			{[]string{"endingOffsets", `{"T":{"0":-2,"1":0}}`}, "error: cannot end at the earliest"},
			{[]string{"endingOffsets", `{"T":{"0":3}}`}, "error: says nothing of topic"},
			{[]string{"endingOffsets", `{"T":{"0":5,"1":1}}`}, "error: found 5, but the partition ends at 4"},
			{[]string{"startingOffsets", `{"T":{"0":3,"1":0}}`, "endingOffsets", `{"T":{"0":2,"1":1}}`}, "error: would end at offset 2"},
		} {
			options := []string{"subscribe", topic}
			for _, o := range c.options {
				options = append(options, strings.ReplaceAll(o, "T\"", topic+"\""))
			}
			env := k.env()
			env.Static = true
			var got []string
			src, err := newSource(env, k.options(options...))
			if err == nil {
				got, _, err = k.batch(src.(*source), nil)
				src.Close()
			}
			if want, bad := strings.CutPrefix(c.want, "error: "); bad {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q: got %q, %v; want %s", c.options, got, err, want)
				}
				continue
			}
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%q: got %q, %v; want %s", c.options, got, err, c.want)
			}
		}
		if _, err := newSource(k.env(), k.options("subscribe", topic, "endingOffsets", "latest")); err == nil || !strings.Contains(err.Error(), "is for static tables") {
			t.Errorf("a stream with an end: %v", err)
		}
	})
}

// TestDivided reads ranges in pieces, twice over, as a query that joins its source with itself does.
func TestDivided(t *testing.T) {
	eachCluster(t, func(t *testing.T, k *cluster) {
		topic := k.topic(fresh("divided"), 3)
		var want []string
		for p, n := range []int{70, 30, 1} {
			for i := range n {
				v := fmt.Sprintf("%d.%d", p, i)
				want = append(want, v)
				k.put(topic, int32(p), v)
			}
		}
		for _, c := range []struct {
			options []string
			pieces  int
		}{
			{nil, 3},
			{[]string{"minPartitions", "2"}, 3},
			{[]string{"minPartitions", "11"}, 11},
			{[]string{"maxRecordsPerPartition", "20"}, 7},
			{[]string{"maxRecordsPerPartition", "20", "minPartitions", "9"}, 9},
			{[]string{"minPartitions", "1000"}, 106},
		} {
			s := k.source(append([]string{"subscribe", topic, "startingOffsets", "earliest"}, c.options...)...)
			end, _, err := s.Next(t.Context(), nil, false)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := s.Plan(t.Context(), nil, end)
			if err != nil || len(parts) != c.pieces {
				t.Errorf("%q: %d pieces, want %d, %v", c.options, len(parts), c.pieces, err)
			}
			twice, err := s.Plan(t.Context(), nil, end)
			if err != nil {
				t.Fatal(err)
			}
			got := make([][]string, 2*len(parts))
			var all sync.WaitGroup
			for i, p := range append(parts, twice...) {
				all.Go(func() {
					var err error
					if got[i], err = k.readPart(p); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			k.equal(slices.Concat(got[:len(parts)]...), want...)
			k.equal(slices.Concat(got[len(parts):]...), want...)
			k.put(topic, 2, "next")
			want = append(want, "next")
			after, _ := k.must(s, end)
			k.equal(after, "next")
		}
		if _, err := newSource(k.env(), k.options("subscribe", topic, "minPartitions", "0")); err == nil {
			t.Error("minPartitions 0: no error")
		}
	})
}

// TestLateNewPartition finds a partition whose first records are gone already.
func TestLateNewPartition(t *testing.T) {
	eachCluster(t, func(t *testing.T, k *cluster) {
		topic := k.topic(fresh("late"), 1)
		k.put(topic, 0, "a")
		_, at := k.must(k.source("subscribe", topic, "startingOffsets", "earliest"), nil)
		if _, err := k.admin.CreatePartitions(t.Context(), 1, topic); err != nil {
			t.Fatal(err)
		}
		newCluster(t, k.address).put(topic, 1, "0", "1", "2")
		gone := kadm.Offsets{}
		gone.AddOffset(topic, 1, 2, -1)
		if _, err := newCluster(t, k.address).admin.DeleteRecords(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		_, _, err := k.batch(k.source("subscribe", topic), at)
		if sparkerr.Condition(err) != "KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO" || !strings.Contains(err.Error(), "offsets 0 to 1 are gone") {
			t.Errorf("got %v", err)
		}
		s := k.source("subscribe", topic, "failOnDataLoss", "false")
		got, end := k.must(s, at)
		k.equal(got, "2")
		if m := s.Metrics(end, end); m["offsetsLost"] != "2" || m["maxOffsetsBehindLatest"] != "0" || m["avgOffsetsBehindLatest"] != "0.0" {
			t.Errorf("metrics %q", m)
		}
	})
}

// TestReadAhead takes what has come without asking the brokers again, and sees partitions of an idle topic at once.
func TestReadAhead(t *testing.T) {
	k := fakeCluster(t)
	k.topic("t", 4)
	s := k.source("subscribe", "t", "startingOffsets", "earliest")
	_, at := k.must(s, nil)
	for i := range 8 {
		p := int32(i % 4)
		k.put("t", p, fmt.Sprint(i))
		begun := time.Now()
		if err := s.Wait(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 200*time.Millisecond {
			t.Errorf("record %d came after %s", i, took)
		}
		s.looked = time.Now()
		asked := 0
		k.fake.ControlKey(2, func(kmsg.Request) (kmsg.Response, error, bool) {
			k.fake.KeepControl()
			asked++
			return nil, nil, false
		})
		var got []string
		got, at = k.must(s, at)
		k.equal(got, fmt.Sprint(i))
		if asked > 0 {
			t.Errorf("offsets were asked for %d times", asked)
		}
	}
}
