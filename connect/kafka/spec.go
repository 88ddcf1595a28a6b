package kafka

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Spec documents the connector.
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "kafka", Doc: "records of Apache Kafka topics",
		Promise: "exactly once to readers with isolation.level read_committed: one transaction per batch that also records the batch id; at least once with transactional: false",
		Example: `sources:
  clicks:
    format: kafka
    options: {kafka.bootstrap.servers: "${KAFKA:-localhost:9092}", subscribe: clicks, startingOffsets: earliest, kafka.group.id: totals}
views:
  per_url: {sql: "SELECT string(value) AS key, string(count(*)) AS value FROM clicks GROUP BY value"}
sinks:
  totals:
    from: per_url
    format: kafka
    options: {kafka.bootstrap.servers: "${KAFKA:-localhost:9092}", topic: totals}
    outputMode: update
    checkpointLocation: checkpoint/totals`,
		Prefixes: []string{"kafka."},
		Options: []connector.Option{
			{Name: "kafka.bootstrap.servers", Type: "host:port,…", Required: true, Doc: "the brokers, as host:port,host:port"},
			{Name: "subscribe", Type: "names", Doc: "topics to read, separated by commas"},
			{Name: "subscribePattern", Type: "regular expression", Doc: "read the topics whose whole name matches this regular expression"},
			{Name: "assign", Type: "JSON", Doc: `partitions to read, {"topic": [0, 1]}`},
			{Name: "startingOffsets", Type: "earliest | latest | JSON", Default: "latest", Doc: `where the first batch begins: earliest, latest or {"topic": {"0": 23}}, -2 earliest, -1 latest`},
			{Name: "startingTimestamp", Type: "number", Doc: "begin at the first record at or after this time, in ms since 1970; goes before startingOffsetsByTimestamp, and that before startingOffsets"},
			{Name: "startingOffsetsByTimestamp", Type: "JSON", Doc: `the same by partition, {"topic": {"0": 1700000000000}}`},
			{Name: "startingOffsetsByTimestampStrategy", Type: "error | latest", Default: "error", Doc: "what to do where no record is as late: error or latest"},
			{Name: "endingOffsets", Type: "latest | JSON", Default: "latest", Doc: `static tables: where they end: latest or {"topic": {"0": 50}}, -1 latest`},
			{Name: "endingTimestamp", Type: "number", Doc: "static tables: end before the first record at or after this time, in ms since 1970"},
			{Name: "endingOffsetsByTimestamp", Type: "JSON", Doc: "static tables: the same by partition"},
			{Name: "maxOffsetsPerTrigger", Type: "number", Doc: "most records of a batch, shared by the lag of partitions, at least one each"},
			{Name: "minOffsetsPerTrigger", Type: "number", Doc: "wait for so many records before a batch; the first batch of a run does not wait"},
			{Name: "maxTriggerDelay", Type: "duration", Default: "15m", Doc: "and no longer than this"},
			{Name: "minPartitions", Type: "number", Doc: "divide a batch into at least so many pieces that are read side by side; the greater partitions of topics into more"},
			{Name: "maxRecordsPerPartition", Type: "number", Doc: "divide a batch so that no piece has more records than this"},
			{Name: "includeHeaders", Type: "boolean", Default: "false", Doc: "add the column headers"},
			{Name: "failOnDataLoss", Type: "boolean", Default: "true", Doc: "fail when offsets that were to be read are gone; otherwise warn, count them (offsetsLost in progress) and go on"},
			{Name: "groupIdPrefix", Type: "text", Doc: "accepted for compatibility: no consumer group is joined"},
			{Name: "kafkaConsumer.pollTimeoutMs", Type: "number", Doc: "accepted for compatibility"},
			{Name: "fetchOffset.numRetries", Type: "number", Doc: "accepted for compatibility"},
			{Name: "fetchOffset.retryIntervalMs", Type: "number", Doc: "accepted for compatibility"},
			{Name: "topic", Type: "name", Doc: "sink: the topic of all rows; without it the column topic says where a row goes"},
			{Name: "transactional", Type: "boolean", Default: "true", Doc: "sink: one transaction per batch, exactly once; false is at least once, with less delay for readers"},
			{Name: "failOnUnknownBatch", Type: "boolean", Default: "true", Doc: "sink: fail when a batch is to be written again and the brokers have forgotten whether it was committed"},
			{Name: "kafka.transactional.id", Type: "name", Doc: "sink: name of the producer and of the group that keeps the last batch (default wstream-<query id>-<sink>), for ACLs"},
			{Name: "kafka.transaction.timeout.ms", Type: "duration", Default: "5m", Doc: "sink: how long a transaction may take; readers wait so long for what a dead process has left open"},
			{Name: "kafka.isolation.level", Type: "read_uncommitted | read_committed", Default: "read_uncommitted", Doc: "source: read_committed leaves out rows of aborted and open transactions"},
			{Name: "kafka.group.id", Type: "name", Doc: "source: consumer group to which offsets are written after each commit, for lag tools; never read"},
			{Name: "kafka.security.protocol", Type: "PLAINTEXT | SSL | SASL_PLAINTEXT | SASL_SSL", Default: "PLAINTEXT", Doc: "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"},
			{Name: "kafka.sasl.mechanism", Type: "PLAIN | SCRAM-SHA-256 | SCRAM-SHA-512 | OAUTHBEARER", Doc: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"},
			{Name: "kafka.sasl.jaas.config", Type: "text", Doc: `the login as Kafka writes it: org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";`},
			{Name: "kafka.sasl.oauthbearer.token.endpoint.url", Type: "URL", Doc: "file:// of a token, read again at each login"},
			{Name: "kafka.ssl.truststore.location", Type: "path", Doc: "file of trusted certificates in PEM; kafka.ssl.truststore.certificates gives them in place"},
			{Name: "kafka.ssl.keystore.location", Type: "path", Doc: "file of the own certificate chain and key in PEM; kafka.ssl.keystore.certificate.chain and kafka.ssl.keystore.key give them in place"},
			{Name: "kafka.ssl.endpoint.identification.algorithm", Type: "https or nothing", Default: "https", Doc: "empty: the broker's certificate is checked, but not for its host name"},
		},
		FixedSchema: func(o connector.Options) (*columnar.Schema, error) {
			h, err := o.Bool("includeHeaders", false)
			return Schema(h), err
		},
		NewSource: newSource,
		NewSink:   newSink,
	}
}
