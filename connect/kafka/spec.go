package kafka

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Spec documents the connector.
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "kafka", Doc: "records of Apache Kafka topics",
		Promise:  "exactly once to readers with isolation.level read_committed: one transaction per batch that also records the batch id",
		Prefixes: []string{"kafka."},
		Options: []connector.Option{
			{Name: "kafka.bootstrap.servers", Required: true, Doc: "the brokers, as host:port,host:port"},
			{Name: "subscribe", Doc: "topics to read, separated by commas"},
			{Name: "subscribePattern", Doc: "read the topics whose whole name matches this regular expression"},
			{Name: "assign", Doc: `partitions to read, {"topic": [0, 1]}`},
			{Name: "startingOffsets", Default: "latest", Doc: `where the first batch begins: earliest, latest or {"topic": {"0": 23}}, -2 earliest, -1 latest`},
			{Name: "startingTimestamp", Doc: "begin at the first record at or after this time, in ms since 1970"},
			{Name: "startingOffsetsByTimestamp", Doc: `the same by partition, {"topic": {"0": 1700000000000}}`},
			{Name: "startingOffsetsByTimestampStrategy", Default: "error", Doc: "what to do where no record is as late: error or latest"},
			{Name: "maxOffsetsPerTrigger", Doc: "most records of a batch, shared by the lag of partitions, at least one each"},
			{Name: "minOffsetsPerTrigger", Doc: "wait for so many records before a batch"},
			{Name: "maxTriggerDelay", Default: "15m", Doc: "and no longer than this"},
			{Name: "minPartitions", Doc: "accepted for compatibility: a partition's records are decoded in parallel anyway"},
			{Name: "includeHeaders", Default: "false", Doc: "add the column headers"},
			{Name: "failOnDataLoss", Default: "true", Doc: "fail when offsets that were to be read are gone; otherwise warn and go on"},
		},
		FixedSchema: func(o connector.Options) (*columnar.Schema, error) {
			h, err := o.Bool("includeHeaders", false)
			return Schema(h), err
		},
		NewSource: newSource,
	}
}
