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
  raw:
    format: kafka
    options: {kafka.bootstrap.servers: "localhost:9092", subscribe: clicks, startingOffsets: earliest}
sinks:
  totals:
    from: raw
    format: kafka
    options: {kafka.bootstrap.servers: "localhost:9092", topic: totals}`,
		Prefixes: []string{"kafka."},
		Options: []connector.Option{
			{Name: "kafka.bootstrap.servers", Required: true, Doc: "the brokers, as host:port,host:port"},
			{Name: "subscribe", Doc: "topics to read, separated by commas"},
			{Name: "subscribePattern", Doc: "read the topics whose whole name matches this regular expression"},
			{Name: "assign", Doc: `partitions to read, {"topic": [0, 1]}`},
			{Name: "startingOffsets", Default: "latest", Doc: `where the first batch begins: earliest, latest or {"topic": {"0": 23}}, -2 earliest, -1 latest`},
			{Name: "startingTimestamp", Doc: "begin at the first record at or after this time, in ms since 1970; goes before startingOffsetsByTimestamp, and that before startingOffsets"},
			{Name: "startingOffsetsByTimestamp", Doc: `the same by partition, {"topic": {"0": 1700000000000}}`},
			{Name: "startingOffsetsByTimestampStrategy", Default: "error", Doc: "what to do where no record is as late: error or latest"},
			{Name: "endingOffsets", Default: "latest", Doc: `static tables: where they end: latest or {"topic": {"0": 50}}, -1 latest`},
			{Name: "endingTimestamp", Doc: "static tables: end before the first record at or after this time, in ms since 1970"},
			{Name: "endingOffsetsByTimestamp", Doc: "static tables: the same by partition"},
			{Name: "maxOffsetsPerTrigger", Doc: "most records of a batch, shared by the lag of partitions, at least one each"},
			{Name: "minOffsetsPerTrigger", Doc: "wait for so many records before a batch; the first batch of a run does not wait"},
			{Name: "maxTriggerDelay", Default: "15m", Doc: "and no longer than this"},
			{Name: "minPartitions", Doc: "divide a batch into at least so many pieces that are read side by side; the greater partitions of topics into more"},
			{Name: "maxRecordsPerPartition", Doc: "divide a batch so that no piece has more records than this"},
			{Name: "includeHeaders", Default: "false", Doc: "add the column headers"},
			{Name: "failOnDataLoss", Default: "true", Doc: "fail when offsets that were to be read are gone; otherwise warn, count them (offsetsLost in progress) and go on"},
			{Name: "groupIdPrefix", Doc: "accepted for compatibility: no consumer group is joined"},
			{Name: "kafkaConsumer.pollTimeoutMs", Doc: "accepted for compatibility"},
			{Name: "fetchOffset.numRetries", Doc: "accepted for compatibility"},
			{Name: "fetchOffset.retryIntervalMs", Doc: "accepted for compatibility"},
			{Name: "topic", Doc: "sink: the topic of all rows; without it the column topic says where a row goes"},
			{Name: "transactional", Default: "true", Doc: "sink: one transaction per batch, exactly once; false is at least once, with less delay for readers"},
			{Name: "failOnUnknownBatch", Default: "true", Doc: "sink: fail when a batch is to be written again and the brokers have forgotten whether it was committed"},
			{Name: "kafka.transactional.id", Doc: "sink: name of the producer and of the group that keeps the last batch (default wstream-<query id>-<sink>), for ACLs"},
			{Name: "kafka.transaction.timeout.ms", Default: "5m", Doc: "sink: how long a transaction may take; readers wait so long for what a dead process has left open"},
			{Name: "kafka.isolation.level", Default: "read_uncommitted", Doc: "source: read_committed leaves out rows of aborted and open transactions"},
			{Name: "kafka.group.id", Doc: "source: consumer group to which offsets are written after each commit, for lag tools; never read"},
			{Name: "kafka.security.protocol", Default: "PLAINTEXT", Doc: "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"},
			{Name: "kafka.sasl.mechanism", Doc: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"},
			{Name: "kafka.sasl.jaas.config", Doc: `the login as Kafka writes it: org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";`},
			{Name: "kafka.sasl.oauthbearer.token.endpoint.url", Doc: "file:// of a token, read again at each login"},
			{Name: "kafka.ssl.truststore.location", Doc: "file of trusted certificates in PEM; kafka.ssl.truststore.certificates gives them in place"},
			{Name: "kafka.ssl.keystore.location", Doc: "file of the own certificate chain and key in PEM; kafka.ssl.keystore.certificate.chain and kafka.ssl.keystore.key give them in place"},
			{Name: "kafka.ssl.endpoint.identification.algorithm", Default: "https", Doc: "empty: the broker's certificate is checked, but not for its host name"},
		},
		FixedSchema: func(o connector.Options) (*columnar.Schema, error) {
			h, err := o.Bool("includeHeaders", false)
			return Schema(h), err
		},
		NewSource: newSource,
		NewSink:   newSink,
	}
}
