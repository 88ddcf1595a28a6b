package kafka

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/engine/connector"
)

// clientOptions turns kafka.* options into those of the client.
func clientOptions(o connector.Options) ([]kgo.Opt, error) {
	v, ok := o.Get("kafka.bootstrap.servers")
	if !ok || strings.TrimSpace(v) == "" {
		return nil, fmt.Errorf("option \"kafka.bootstrap.servers\" is missing: the brokers, as host:port,host:port")
	}
	var seeds []string
	for _, s := range strings.Split(v, ",") {
		if s = strings.TrimSpace(s); s != "" {
			seeds = append(seeds, s)
		}
	}
	opts := []kgo.Opt{kgo.SeedBrokers(seeds...), kgo.ClientID(o.String("kafka.client.id", "wstream")), kgo.RetryTimeout(30 * time.Second), kgo.BrokerMaxReadBytes(1 << 30)}
	return opts, nil
}
