// Package nats reads from and writes to streams of NATS JetStream. The source reads exact ranges of stream sequences per
// batch, whose position is in the checkpoint and not in a durable consumer; the sink gives each message an id by which the
// server, and after a crash the sink itself, can tell that it is there already.
package nats

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Spec is the format "nats".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "nats",
		Doc: "A stream of NATS JetStream. As a source it gives the messages of the stream, or of some of its subjects, in the order of their sequences, as the columns value, subject, " +
			"sequence, timestamp, stream, and headers where asked for. Streams with the retention limits can be read; a work queue forgets what was read. " +
			"As a sink it publishes the column value of each row, with the columns subject and headers where they are there.",
		Promise: "exactly once: a message carries a Nats-Msg-Id made of query, batch and content, by which the server drops what comes twice within the stream's duplicate window; " +
			"beyond it a batch that runs again first looks in the stream for what is there, and publishes the rest",
		Example: "sources:\n  raw:\n    format: nats\n    options: {servers: \"${NATS:-nats://127.0.0.1:4222}\", stream: ORDERS, subject: \"orders.>\", startingOffsets: earliest}\n" +
			"sinks:\n  out:\n    from: raw\n    format: nats\n    options: {servers: \"${NATS:-nats://127.0.0.1:4222}\", stream: COPIES, subject: copies.all}\n    checkpointLocation: checkpoint/out\n",
		Options: []connector.Option{
			{Name: "servers", Type: "URLs", Required: true, Doc: "the servers, as nats://host:port, separated by commas; tls:// for an encrypted connection"},
			{Name: "stream", Type: "name", Required: true, Doc: "the stream, which must be there"},
			{Name: "subject", Type: "text", Doc: "source: subjects to read, with wild cards, separated by commas; all of the stream unless set. Sink: the subject of all rows; without it the column subject says where a row goes"},
			{Name: "startingOffsets", Type: "earliest | latest | number", Default: "latest", Doc: "where the first batch begins: earliest, latest or the sequence of a message; earliest for static tables"},
			{Name: "startingTimestamp", Type: "number", Doc: "begin at the first message at or after this time, in ms since 1970; goes before startingOffsets"},
			{Name: "maxOffsetsPerTrigger", Type: "number", Doc: "how many sequences a batch covers at most"},
			{Name: "includeHeaders", Type: "boolean", Default: "false", Doc: "add the column headers"},
			{Name: "failOnDataLoss", Type: "boolean", Default: "true", Doc: "fail when messages that were to be read are gone; otherwise warn and go on. Streams that keep some messages of each subject, or give them a time to live, have no loss"},
			{Name: "timeout", Type: "duration", Default: "1m", Doc: "how long a server may be away or a request be without answer"},
			{Name: "user", Type: "text", Doc: "name of a user"},
			{Name: "password", Type: "text", Doc: "its password"},
			{Name: "token", Type: "text", Doc: "a token instead of a user"},
			{Name: "credentials", Type: "path", Doc: "file with a user's JWT and key (.creds)"},
			{Name: "nkey", Type: "path", Doc: "file with the seed of an nkey"},
			{Name: "tls.ca", Type: "path", Doc: "file of trusted certificates in PEM"},
			{Name: "tls.certificate", Type: "path", Doc: "file of the own certificate in PEM"},
			{Name: "tls.key", Type: "path", Doc: "file of its key in PEM"},
		},
		FixedSchema: func(o connector.Options) (*columnar.Schema, error) {
			h, err := o.Bool("includeHeaders", false)
			return Schema(h), err
		},
		NewSource: newSource,
		NewSink:   newSink,
	}
}
