package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wstream/wstream/engine/stream"
)

// metrics are the numbers that --metrics serves. A nil value takes everything and serves nothing.
type metrics struct {
	server   *http.Server
	listener net.Listener

	batches, input, output, late, corrupt, skipped *prometheus.CounterVec
	duration                                       *prometheus.HistogramVec
	watermark, stateRows, stateBytes, lag          *prometheus.GaugeVec

	registry *prometheus.Registry
	mu       sync.Mutex
	guests   map[string]*prometheus.CounterVec
	observed map[string]*prometheus.HistogramVec
}

// serveMetrics starts the endpoint /metrics at an address; "" has none.
func (p *program) serveMetrics(addr string) (*metrics, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, environment(err)
	}
	m := newMetrics()
	m.listener = l
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(l) }()
	p.note("metrics at http://%s/metrics", l.Addr())
	return m, nil
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), guests: map[string]*prometheus.CounterVec{}, observed: map[string]*prometheus.HistogramVec{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"query"}, labels...))
		m.registry.MustRegister(v)
		return v
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append([]string{"query"}, labels...))
		m.registry.MustRegister(v)
		return v
	}
	m.batches = counter("wstream_batches_total", "Batches committed.")
	m.input = counter("wstream_input_rows_total", "Rows read.", "source")
	m.output = counter("wstream_output_rows_total", "Rows written to the sink.")
	m.late = counter("wstream_late_rows_total", "Rows dropped because of the watermark.", "operator")
	m.corrupt = counter("wstream_corrupt_rows_total", "Rows that could not be parsed wholly.", "source")
	m.skipped = counter("wstream_skipped_rows_total", "Rows that user functions refused and that were skipped or sent to a dead-letter sink.")
	m.watermark = gauge("wstream_watermark_seconds", "Watermark in seconds since the epoch.")
	m.stateRows = gauge("wstream_state_rows", "Rows in state.", "operator")
	m.stateBytes = gauge("wstream_state_memory_bytes", "Memory of state.", "operator")
	m.lag = gauge("wstream_source_lag_rows", "Rows that are there and not read yet.", "source", "partition")
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "wstream_batch_duration_seconds", Help: "Time of a batch.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 18)}, []string{"query"})
	m.registry.MustRegister(m.duration)
	return m
}

func (m *metrics) close() {
	if m == nil || m.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = m.server.Shutdown(ctx)
}

// progress takes the numbers of a batch.
func (m *metrics) progress(query string, p stream.Progress) {
	if m == nil {
		return
	}
	m.batches.WithLabelValues(query).Inc()
	m.output.WithLabelValues(query).Add(float64(max(p.Sink.NumOutputRows, 0)))
	m.skipped.WithLabelValues(query).Add(float64(p.SkippedRows))
	m.duration.WithLabelValues(query).Observe(float64(p.BatchDuration) / 1000)
	for _, s := range p.Sources {
		m.input.WithLabelValues(query, s.Name).Add(float64(s.NumInputRows))
		m.corrupt.WithLabelValues(query, s.Name).Add(float64(s.NumCorruptRecords))
		for part, n := range s.Lag {
			m.lag.WithLabelValues(query, s.Name, part).Set(float64(n))
		}
	}
	for _, o := range p.StateOperators {
		m.late.WithLabelValues(query, o.OperatorName).Add(float64(o.NumRowsDroppedByWatermark))
		m.stateRows.WithLabelValues(query, o.OperatorName).Set(float64(o.NumRowsTotal))
		m.stateBytes.WithLabelValues(query, o.OperatorName).Set(float64(o.MemoryUsedBytes))
	}
	if w, err := time.Parse("2006-01-02T15:04:05.000Z", p.EventTime["watermark"]); err == nil {
		m.watermark.WithLabelValues(query).Set(float64(w.UnixMilli()) / 1000)
	}
}

// Add implements host.Metrics.
func (m *metrics) Add(module, name string, delta float64) {
	if m == nil || delta < 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.guests[name]
	if c == nil {
		c = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "wstream_guest_" + name, Help: "Counted by guests."}, []string{"module"})
		if m.registry.Register(c) != nil {
			return
		}
		m.guests[name] = c
	}
	c.WithLabelValues(module).Add(delta)
}

// Observe implements host.Metrics.
func (m *metrics) Observe(module, name string, value float64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.observed[name]
	if h == nil {
		h = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "wstream_guest_" + name, Help: "Observed by guests."}, []string{"module"})
		if m.registry.Register(h) != nil {
			return
		}
		m.observed[name] = h
	}
	h.WithLabelValues(module).Observe(value)
}
