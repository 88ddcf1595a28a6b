package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// TestTLS talks to a broker whose certificate is trusted by PEM, in place and from a file, with and without its host name.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"elsewhere"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	file := filepath.Join(t.TempDir(), "trust.pem")
	if err := os.WriteFile(file, []byte(cert), 0o600); err != nil {
		t.Fatal(err)
	}
	k := fakeCluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}))
	reach := func(pairs ...string) error {
		s := k.sink(append([]string{"topic", "t", "kafka.security.protocol", "SSL"}, pairs...)...)
		return s.client.reachWithin(t.Context(), 2*time.Second)
	}
	for _, trust := range [][]string{{"kafka.ssl.truststore.certificates", cert}, {"kafka.ssl.truststore.location", file, "kafka.ssl.truststore.type", "PEM"}} {
		if err := reach(append(trust, "kafka.ssl.endpoint.identification.algorithm", "")...); err != nil {
			t.Errorf("%s: %v", trust[0], err)
		}
		if err := reach(trust...); err == nil || !strings.Contains(err.Error(), "x509") {
			t.Errorf("%s for another host: %v", trust[0], err)
		}
	}
	if err := reach("kafka.ssl.endpoint.identification.algorithm", ""); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
}
