package kafka

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/wstream/wstream/engine/connector"
)

// topicID is what brokers know a topic by. A topic that is deleted and made again has another one. Brokers before 2.8 have
// none; it is zero then.
type topicID [16]byte

// String writes the id as Kafka's tools do.
func (t topicID) String() string { return base64.RawURLEncoding.EncodeToString(t[:]) }

func parseTopicID(s string) (topicID, error) {
	var t topicID
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("%q is not the id of a topic", s)
	}
	return topicID(b), nil
}

// lives are the ids that each topic has had since the query reads it. They stand in the source's log of the checkpoint, and
// an offset says by a number which of them it belongs to, so that offsets of a topic that is made again are not taken for
// those of the old one, however many records either has.
type lives struct {
	log connector.MetadataLog
	ids map[string][]topicID
}

// lifeEntry is the form of an entry of the log: all ids of all topics.
type lifeEntry struct {
	TopicIDs map[string][]string `json:"topicIds"`
}

// newLives reads the log; nil is none.
func newLives(log connector.MetadataLog) (*lives, error) {
	l := &lives{log: log, ids: map[string][]topicID{}}
	if log == nil {
		return l, nil
	}
	err := log.Each(func(batch int64, v json.RawMessage) error {
		var e lifeEntry
		if err := json.Unmarshal(v, &e); err != nil {
			return fmt.Errorf("batch %d: the source's log: %w", batch, err)
		}
		clear(l.ids)
		for topic, texts := range e.TopicIDs {
			for _, text := range texts {
				id, err := parseTopicID(text)
				if err != nil {
					return fmt.Errorf("batch %d: the source's log: topic %q: %w", batch, topic, err)
				}
				l.ids[topic] = append(l.ids[topic], id)
			}
		}
		return nil
	})
	return l, err
}

// now is the present life of a topic, counted from 0.
func (l *lives) now(topic string) int64 { return int64(max(len(l.ids[topic])-1, 0)) }

// id is the present id of a topic, zero if it is not known.
func (l *lives) id(topic string) topicID {
	if ids := l.ids[topic]; len(ids) > 0 {
		return ids[len(ids)-1]
	}
	return topicID{}
}

// see takes what the brokers say of topics. What is new is durable, as of a batch that is not planned yet, when it returns.
func (l *lives) see(batch int64, now map[string]topicMeta) error {
	changed := false
	for topic, m := range now {
		if m.id != (topicID{}) && m.id != l.id(topic) {
			l.ids[topic] = append(l.ids[topic], m.id)
			changed = true
		}
	}
	if !changed || l.log == nil {
		return nil
	}
	e := lifeEntry{TopicIDs: map[string][]string{}}
	for topic, ids := range l.ids {
		for _, id := range ids {
			e.TopicIDs[topic] = append(e.TopicIDs[topic], id.String())
		}
	}
	v, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return l.log.Put(batch, v)
}
