// Package http takes rows from HTTP requests and sends batches as HTTP requests.
package http

import "github.com/wstream/wstream/engine/connector"

// Spec is the format "http".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "http",
		Doc: "As a source it listens, and takes the lines of the bodies of POST requests as rows. A request is answered with 200 when its rows are durable in a buffer " +
			"in the checkpoint: from there on each is processed exactly once. A request that comes again with the same header Idempotency-Key is answered, and not taken again " +
			"(the newest 100,000 keys are known); with another body it is answered with 422. When the buffer is full the answer is 429, when the query ends 503, both with Retry-After. " +
			"Bodies may be compressed with gzip. Several sources may listen at one address under different paths; a path that ends with a slash takes all below it. " +
			"As a sink it posts each batch as JSON, a line for each row. An answer of 5xx, 408, 425 or 429 is tried again, after Retry-After; any other ends the query.",
		Promise: "at least once: a batch that is run again is posted again, with the same header Idempotency-Key, by which a receiver can tell",
		Example: "sources:\n  posted:\n    format: http\n    options: {address: \"${LISTEN:-127.0.0.1:8080}\", path: /rows, maxBufferSize: 256m}\n" +
			"sinks:\n  hook:\n    from: posted\n    format: http\n    options: {url: \"${HOOK:-https://example.org/rows}\", deadLetterPath: rejected}\n    checkpointLocation: checkpoint/hook\n",
		Options: []connector.Option{
			{Name: "url", Type: "URL", Doc: "Sink: where batches are posted."},
			{Name: "timeout", Type: "duration", Default: "30s", Doc: "Sink: how long one request may take."},
			{Name: "retryTimeout", Type: "duration", Default: "1m", Doc: "Sink: how long a request that fails is tried again."},
			{Name: "sendEmpty", Type: "boolean", Default: "false", Doc: "Sink: whether batches without rows are posted."},
			{Name: "maxRowsPerRequest", Type: "number", Default: "10000", Doc: "Sink: how many rows a request has at most; requests of a batch are numbered."},
			{Name: "deadLetterPath", Type: "path", Doc: "Sink: a folder for the bodies that are answered with 400, 409, 413, 415 or 422; without it such an answer ends the query."},
			{Name: "address", Type: "host:port", Doc: "Source: the address to listen on, such as 127.0.0.1:8080."},
			{Name: "path", Type: "text", Default: "/", Doc: "Source: the path of requests."},
			{Name: "body", Type: "lines | whole", Default: "lines", Doc: "Source: lines makes a row of each line that is not empty, whole one of the body."},
			{Name: "includeHeaders", Type: "boolean", Default: "false", Doc: "Source: whether there is a column headers, MAP<STRING, STRING>, by names in lower case, without the secret ones."},
			{Name: "maxBodySize", Type: "size", Default: "16m", Doc: "Source: how long a body may be; longer ones are answered with 413."},
			{Name: "maxBufferSize", Type: "size", Default: "1g", Doc: "Source: how many bytes may wait on disk for a commit. A quarter as much is kept behind a commit, for a rollback."},
			{Name: "maxBytesPerTrigger", Type: "size", Default: "64m", Doc: "Source: how many bytes a batch takes at most, what one sync has made durable at least."},
			{Name: "certificate", Type: "path", Doc: "Source: a file with the certificate for https, in PEM."},
			{Name: "privateKey", Type: "path", Doc: "Source: a file with its key, in PEM."},
			{Name: "token", Type: "text", Doc: "Both: a bearer token, sent as a sink and asked for as a source."},
		},
		Prefixes:    []string{"header."},
		FixedSchema: fixedSchema,
		NewSource:   newSource,
		NewSink:     newSink,
	}
}
