package nats

import (
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// layout says in which columns of the output the parts of a message are, -1 for none.
type layout struct {
	value, subject, headers int
	fixed                   string // the subject of all rows
}

// newLayout finds the columns by name and checks their types.
func newLayout(s *columnar.Schema, subject string) (layout, error) {
	l := layout{value: s.IndexFold("value"), subject: s.IndexFold("subject"), headers: s.IndexFold("headers"), fixed: subject}
	if subject != "" {
		l.subject = -1
	} else if l.subject < 0 {
		return l, sparkerr.New("NATS_SINK.NO_SUBJECT", "there is no column \"subject\"; set option \"subject\"")
	}
	if l.value < 0 {
		return l, sparkerr.New("NATS_SINK.COLUMN", "the sink nats needs a column \"value\", found %s; e.g. SELECT to_json(struct(*)) AS value", s)
	}
	for _, c := range []struct {
		name, want string
		at         int
		ok         func(*columnar.Type) bool
	}{
		{"value", "STRING or BINARY", l.value, isText},
		{"subject", "STRING", l.subject, func(t *columnar.Type) bool { return t.Kind == columnar.KindString }},
		{"headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>", l.headers, isHeaders},
	} {
		if c.at >= 0 && !c.ok(s.Fields[c.at].Type) {
			return l, sparkerr.New("NATS_SINK.COLUMN", "column %q of the sink nats is %s, expected %s", c.name, s.Fields[c.at].Type.SQL(), c.want)
		}
	}
	return l, nil
}

func isText(t *columnar.Type) bool {
	return t.Kind == columnar.KindString || t.Kind == columnar.KindBinary || t.Kind == columnar.KindNull
}

func isHeaders(t *columnar.Type) bool {
	if t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindStruct || len(t.Elem.Fields) != 2 {
		return false
	}
	f := t.Elem.Fields
	return strings.EqualFold(f[0].Name, "key") && f[0].Type.Kind == columnar.KindString &&
		strings.EqualFold(f[1].Name, "value") && isText(f[1].Type)
}

// message makes a message of a row. Its value points into the batch. A null value is an empty one: NATS has no other.
func (l *layout) message(b *columnar.Batch, i int) (*nats.Msg, error) {
	m := &nats.Msg{Subject: l.fixed, Header: nats.Header{}}
	if c := b.Columns[l.value]; c.Type.Kind != columnar.KindNull && !c.IsNull(i) {
		m.Data = c.BytesAt(i)
	}
	if l.subject >= 0 {
		c := b.Columns[l.subject]
		if c.IsNull(i) {
			return nil, sparkerr.New("NATS_SINK.NULL_SUBJECT", "the data contains a null subject; use the option \"subject\" to set one")
		}
		m.Subject = string(c.BytesAt(i))
		if !publishable(m.Subject) {
			return nil, sparkerr.New("NATS_SINK.SUBJECT", "column \"subject\": %q cannot be published to: words without blanks and wild cards, with a dot between them", m.Subject)
		}
	}
	if l.headers < 0 || b.Columns[l.headers].IsNull(i) {
		return m, nil
	}
	c := b.Columns[l.headers]
	item := c.Children[0]
	keys, values := item.Children[0], item.Children[1]
	for j := int(c.Offsets[i]); j < int(c.Offsets[i+1]); j++ {
		if item.IsNull(j) || keys.IsNull(j) {
			return nil, sparkerr.New("NATS_SINK.HEADER", "column \"headers\": a header without a key cannot be written")
		}
		name, value := string(keys.BytesAt(j)), ""
		if !values.IsNull(j) {
			value = string(values.BytesAt(j))
		}
		if !headerName(name) || strings.ContainsAny(value, "\r\n") {
			return nil, sparkerr.New("NATS_SINK.HEADER", "column \"headers\": the header %q: %q cannot be written: a name is printable ASCII without colon, and a value is one line", name, value)
		}
		if !strings.HasPrefix(name, "Nats-") { // those are for the server: ids, expectations
			m.Header.Add(name, value)
		}
	}
	return m, nil
}

// publishable says that a subject is one that messages can have.
func publishable(subject string) bool {
	for _, word := range strings.Split(subject, ".") {
		if word == "" || word == "*" || word == ">" || strings.ContainsAny(word, " \t\r\n") {
			return false
		}
	}
	return true
}

func headerName(name string) bool {
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' || name[i] == ':' {
			return false
		}
	}
	return name != ""
}

func sortedNames(h nats.Header) []string { return slices.Sorted(maps.Keys(h)) }
