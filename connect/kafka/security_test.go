package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/testservice"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
	dir  string
}

func newAuthority(t *testing.T, dir, name string) *authority {
	a := &authority{t: t, dir: dir}
	form := &x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.key, a.cert, a.pem = a.issue(form, nil, nil)
	return a
}

func (a *authority) issue(form, by *x509.Certificate, key *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate, string) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	form.SerialNumber, form.NotBefore, form.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if by == nil {
		by, key = form, own
	}
	der, err := x509.CreateCertificate(rand.Reader, form, by, &own.PublicKey, key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return own, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// sign gives a file in PEM with the key and the certificate of a name.
func (a *authority) sign(name string) string {
	a.t.Helper()
	key, _, cert := a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.file(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))+cert+a.pem)
}

func (a *authority) file(name, text string) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// secureBroker is what the real broker is told: listeners of every kind beside its open one.
const secureBroker = `
listeners=PLAINTEXT://127.0.0.1:@PORT@,CONTROLLER://127.0.0.1:%d,SASLPLAIN://127.0.0.1:%d,TLS://127.0.0.1:%d,SASLTLS://127.0.0.1:%d
advertised.listeners=PLAINTEXT://127.0.0.1:@PORT@,SASLPLAIN://127.0.0.1:%[2]d,TLS://127.0.0.1:%d,SASLTLS://127.0.0.1:%d
controller.quorum.voters=1@127.0.0.1:%[1]d
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASLPLAIN:SASL_PLAINTEXT,TLS:SSL,SASLTLS:SASL_SSL
listener.name.tls.ssl.client.auth=required
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location=%[5]s
listener.name.tls.ssl.truststore.type=PEM
listener.name.tls.ssl.truststore.location=%[6]s
listener.name.sasltls.ssl.keystore.type=PEM
listener.name.sasltls.ssl.keystore.location=%[5]s
`

const secureListener = `
listener.name.%[1]s.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.%[1]s.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="p w";
listener.name.%[1]s.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.%[1]s.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.%[1]s.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";
`

// freePorts are ports of the loopback that nothing listens at.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// TestRealSecurity writes to and reads from a real broker with each way to log in, over TLS and without it, and with certificates of
// clients. Who is not let in is told what to do.
func TestRealSecurity(t *testing.T) {
	testservice.Kafka(t)
	dir := t.TempDir()
	ours, strangers := newAuthority(t, dir, "ours"), newAuthority(t, dir, "strangers")
	trust, server, client, stranger := ours.file("trust.pem", ours.pem), ours.sign("broker"), ours.sign("client"), strangers.sign("stranger")
	wrongTrust := ours.file("wrong.pem", strangers.pem)
	ports := freePorts(t, 4)
	config := fmt.Sprintf(secureBroker, ports[0], ports[1], ports[2], ports[3], server, trust)
	config += fmt.Sprintf(secureListener, "saslplain") + fmt.Sprintf(secureListener, "sasltls")
	start := exec.Command("../../scripts/kafka.sh", "start", filepath.Join(dir, "kafka"), "0")
	start.Env = append(os.Environ(), "KAFKA_PROPERTIES="+ours.file("more.properties", config), "KAFKA_HEAP=256m")
	start.Stderr = os.Stderr
	out, err := start.Output()
	t.Cleanup(func() { exec.Command("../../scripts/kafka.sh", "stop", filepath.Join(dir, "kafka")).Run() })
	if err != nil {
		t.Fatalf("kafka.sh: %v", err)
	}
	c := newCluster(t, strings.TrimSpace(string(out)))
	for _, m := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} {
		changed, err := c.admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "alice", Mechanism: m, Iterations: 4096, Password: "p w"}})
		if err == nil {
			err = changed.Error()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	jaas := func(module, user, password string) string {
		return fmt.Sprintf("org.apache.kafka.common.security.%s required username=%q password=%q;", module, user, password)
	}
	token := func(sub string, until time.Time) string {
		part := base64.RawURLEncoding.EncodeToString
		text := part([]byte(`{"alg":"none"}`)) + "." + part(fmt.Appendf(nil, `{"sub":%q,"iat":%d,"exp":%d}`, sub, until.Add(-time.Hour).Unix(), until.Unix())) + "."
		return "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required token=\"" + text + "\";"
	}
	const plain, scram = "plain.PlainLoginModule", "scram.ScramLoginModule"
	at := func(protocol string, port int, more ...string) []string {
		return append([]string{"kafka.bootstrap.servers", fmt.Sprintf("127.0.0.1:%d", port), "kafka.security.protocol", protocol}, more...)
	}
	sasl := func(port int, mechanism, jaas string, more ...string) []string {
		protocol := "SASL_PLAINTEXT"
		if port == ports[3] {
			protocol = "SASL_SSL"
			more = append(more, "kafka.ssl.truststore.location", trust)
		}
		return at(protocol, port, append([]string{"kafka.sasl.mechanism", mechanism, "kafka.sasl.jaas.config", jaas}, more...)...)
	}
	good := map[string][]string{
		"certificate": at("SSL", ports[2], "kafka.ssl.truststore.location", trust, "kafka.ssl.keystore.location", client),
	}
	for name, port := range map[string]int{"plaintext": ports[1], "tls": ports[3]} {
		good[name+"/PLAIN"] = sasl(port, "PLAIN", jaas(plain, "alice", "p w"))
		good[name+"/SCRAM-SHA-256"] = sasl(port, "SCRAM-SHA-256", jaas(scram, "alice", "p w"))
		good[name+"/SCRAM-SHA-512"] = sasl(port, "SCRAM-SHA-512", jaas(scram, "alice", "p w"))
		good[name+"/OAUTHBEARER"] = sasl(port, "OAUTHBEARER", token("alice", time.Now().Add(time.Hour)))
	}
	n := 0
	for name, options := range good {
		t.Run(name, func(t *testing.T) {
			k := newCluster(t, c.address)
			n++
			topic := k.topic(fmt.Sprintf("secure%d", n), 1)
			k.mustWrite(k.sink(append([]string{"topic", topic}, options...)...), 0, "a", "b")
			k.equal(k.values(topic), "a", "b")
			s := k.source(append([]string{"subscribe", topic, "startingOffsets", "earliest"}, options...)...)
			got, _ := k.must(s, nil)
			k.equal(got, "a", "b")
		})
	}
	bad := map[string]refusal{
		"wrong password, PLAIN":         {sasl(ports[1], "PLAIN", jaas(plain, "alice", "secret")), "check the user name, the password"},
		"wrong password, SCRAM-SHA-256": {sasl(ports[3], "SCRAM-SHA-256", jaas(scram, "alice", "secret")), "check the user name, the password"},
		"wrong password, SCRAM-SHA-512": {sasl(ports[1], "SCRAM-SHA-512", jaas(scram, "nobody", "secret")), "check the user name, the password"},
		"token that has run out":        {sasl(ports[3], "OAUTHBEARER", token("alice", time.Now().Add(-time.Hour))), "the token in kafka.sasl.jaas.config"},
		"another authority":             {at("SSL", ports[2], "kafka.ssl.truststore.location", wrongTrust, "kafka.ssl.keystore.location", client), "set kafka.ssl.truststore.location"},
		"no authority":                  {at("SASL_SSL", ports[3], "kafka.sasl.mechanism", "PLAIN", "kafka.sasl.jaas.config", jaas(plain, "alice", "p w")), "set kafka.ssl.truststore.location"},
		"no certificate of the client":  {at("SSL", ports[2], "kafka.ssl.truststore.location", trust), "set kafka.ssl.keystore.location"},
		"a stranger's certificate":      {at("SSL", ports[2], "kafka.ssl.truststore.location", trust, "kafka.ssl.keystore.location", stranger), "kafka.ssl.keystore.location"},
		"TLS where there is none":       {at("SSL", ports[1], "kafka.ssl.truststore.location", trust), "set kafka.security.protocol"},
		"no TLS where there is":         {at("PLAINTEXT", ports[2]), "set kafka.security.protocol"},
		"no login where there is one":   {at("PLAINTEXT", ports[1]), "set kafka.security.protocol"},
	}
	t.Run("refused", func(t *testing.T) { expectRefused(t, c.address, bad) })
}

// refusal is a login that a broker does not take, and what its error tells to do.
type refusal struct {
	options []string
	want    string
}

func expectRefused(t *testing.T, address string, bad map[string]refusal) {
	for name, b := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newCluster(t, address)
			s := k.sink(append([]string{"topic", "t"}, b.options...)...)
			begin := time.Now()
			err := s.client.reach(t.Context())
			var away *connector.UnavailableError
			if !errors.As(err, &away) || !strings.Contains(err.Error(), b.want) {
				t.Errorf("got %v, want a sentence with %q", err, b.want)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "p w")) {
				t.Errorf("the error shows the password: %v", err)
			}
			t.Logf("%s: %v", time.Since(begin).Round(time.Millisecond), err)
		})
	}
}
