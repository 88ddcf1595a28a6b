package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/wstream/wstream/engine/connector"
)

// security reads kafka.security.protocol, kafka.sasl.* and kafka.ssl.*.
func security(env connector.Env, o connector.Options) ([]kgo.Opt, error) {
	protocol := strings.ToUpper(strings.TrimSpace(o.String("kafka.security.protocol", "PLAINTEXT")))
	withTLS, withSASL := protocol == "SSL" || protocol == "SASL_SSL", protocol == "SASL_PLAINTEXT" || protocol == "SASL_SSL"
	if !withTLS && !withSASL && protocol != "PLAINTEXT" {
		return nil, fmt.Errorf("option \"kafka.security.protocol\": found %q, expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", protocol)
	}
	for _, name := range o.Names() {
		key := strings.ToLower(name)
		isSASL, isTLS := strings.HasPrefix(key, "kafka.sasl."), strings.HasPrefix(key, "kafka.ssl.")
		switch {
		case isSASL && !knownSASL(key[len("kafka.sasl."):]), isTLS && !knownTLS(key[len("kafka.ssl."):]):
			return nil, fmt.Errorf("option %q is not supported: there is no Java here to load classes, and no Kerberos", name)
		case isSASL && !withSASL, isTLS && !withTLS:
			// A password that is never used, or a connection that is thought to be safe, should not go unseen.
			return nil, fmt.Errorf("option %q has no meaning with kafka.security.protocol %s", name, protocol)
		}
	}
	var opts []kgo.Opt
	if withTLS {
		c, err := tlsConfig(env, o)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(c))
	}
	if withSASL {
		m, err := mechanism(env, o)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

func knownSASL(name string) bool {
	switch name {
	case "mechanism", "jaas.config", "oauthbearer.token.endpoint.url":
		return true
	}
	return false
}

func knownTLS(name string) bool {
	switch name {
	case "truststore.type", "truststore.location", "truststore.certificates", "truststore.password", "keystore.type", "keystore.location",
		"keystore.certificate.chain", "keystore.key", "keystore.password", "key.password", "endpoint.identification.algorithm",
		"enabled.protocols", "protocol":
		return true
	}
	return false
}

// mechanism reads how the client logs in.
func mechanism(env connector.Env, o connector.Options) (sasl.Mechanism, error) {
	name := strings.ToUpper(strings.TrimSpace(o.String("kafka.sasl.mechanism", "GSSAPI")))
	module := ""
	switch name {
	case "PLAIN":
		module = "PlainLoginModule"
	case "SCRAM-SHA-256", "SCRAM-SHA-512":
		module = "ScramLoginModule"
	case "OAUTHBEARER":
		module = "OAuthBearerLoginModule"
	case "GSSAPI":
		return nil, errors.New("option \"kafka.sasl.mechanism\": GSSAPI (Kerberos, also the default of Kafka) is not supported; use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER")
	default:
		return nil, fmt.Errorf("option \"kafka.sasl.mechanism\": found %q, expected PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER", name)
	}
	text, ok := o.Get("kafka.sasl.jaas.config")
	if !ok {
		return nil, fmt.Errorf("option \"kafka.sasl.jaas.config\" is missing: `org.apache.kafka.common.security.….%s required …;`", module)
	}
	l, err := parseJAAS(text)
	if err != nil {
		return nil, fmt.Errorf("option \"kafka.sasl.jaas.config\": %w", err)
	}
	if l.name() != module {
		return nil, fmt.Errorf("option \"kafka.sasl.jaas.config\": found the login module %q, expected %s for mechanism %s", l.module, module, name)
	}
	if name == "OAUTHBEARER" {
		return bearer(env, o, l)
	}
	user, password := l.values["username"], l.values["password"]
	if user == "" || password == "" {
		return nil, errors.New("option \"kafka.sasl.jaas.config\": it needs username=\"…\" and password=\"…\"")
	}
	delegation := strings.EqualFold(l.values["tokenauth"], "true")
	switch name {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password, IsToken: delegation}.AsSha256Mechanism(), nil
	}
	return scram.Auth{User: user, Pass: password, IsToken: delegation}.AsSha512Mechanism(), nil
}

// bearer logs in with a token: token="…" of the JAAS entry, or a file that is read at each login so that it may be renewed.
func bearer(env connector.Env, o connector.Options, l login) (sasl.Mechanism, error) {
	extensions := map[string]string{}
	for k, v := range l.values {
		if e, ok := strings.CutPrefix(k, "extension_"); ok {
			extensions[e] = v
		}
	}
	if token := l.values["token"]; token != "" {
		return oauth.Auth{Token: token, Extensions: extensions}.AsMechanism(), nil
	}
	v, ok := o.Get("kafka.sasl.oauthbearer.token.endpoint.url")
	if !ok {
		return nil, errors.New("mechanism OAUTHBEARER needs token=\"…\" in kafka.sasl.jaas.config, or kafka.sasl.oauthbearer.token.endpoint.url with the file:// of a token")
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "file" {
		return nil, errors.New("option \"kafka.sasl.oauthbearer.token.endpoint.url\": only the file:// of a token is supported; let another program fetch the token and renew the file")
	}
	path := resolve(env, u.Path)
	return oauth.Oauth(func(context.Context) (oauth.Auth, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return oauth.Auth{}, fmt.Errorf("token: %w", err)
		}
		return oauth.Auth{Token: strings.TrimSpace(string(b)), Extensions: extensions}, nil
	}), nil
}

func resolve(env connector.Env, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(env.BaseDir, path)
}

// tlsConfig reads kafka.ssl.*: certificates and keys in PEM.
func tlsConfig(env connector.Env, o connector.Options) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, name := range []string{"truststore", "keystore"} {
		option := "kafka.ssl." + name
		if t := o.String(option+".type", "PEM"); !strings.EqualFold(t, "PEM") {
			return nil, fmt.Errorf("option %q: found %q, only PEM is supported; %s", option+".type", t, convert)
		}
		if _, ok := o.Get(option + ".password"); ok {
			return nil, fmt.Errorf("option %q: a store in PEM has no password", option+".password")
		}
	}
	if _, ok := o.Get("kafka.ssl.key.password"); ok {
		return nil, errors.New("option \"kafka.ssl.key.password\": keys with a password are not supported; remove it by `openssl pkey -in key.pem -out plain.pem`")
	}
	trust, err := pemOption(env, o, "kafka.ssl.truststore.certificates", "kafka.ssl.truststore.location")
	if err != nil {
		return nil, err
	}
	if trust != nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(trust) {
			return nil, errors.New("option \"kafka.ssl.truststore.location\" or \"…certificates\": it holds no certificate in PEM")
		}
	}
	chain, err := pemOption(env, o, "kafka.ssl.keystore.certificate.chain", "kafka.ssl.keystore.location")
	if err != nil {
		return nil, err
	}
	if chain != nil {
		key := chain // one file holds both
		if v, ok := o.Get("kafka.ssl.keystore.key"); ok {
			key = []byte(v)
		}
		if bytes.Contains(key, []byte("ENCRYPTED PRIVATE KEY")) {
			return nil, errors.New("option \"kafka.ssl.keystore.key\": keys with a password are not supported; remove it by `openssl pkey -in key.pem -out plain.pem`")
		}
		cert, err := tls.X509KeyPair(chain, key)
		if err != nil {
			return nil, fmt.Errorf("option \"kafka.ssl.keystore.location\" or \"…certificate.chain\": %w", err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	switch a := strings.ToLower(strings.TrimSpace(o.String("kafka.ssl.endpoint.identification.algorithm", "https"))); a {
	case "https":
	case "":
		withoutHostName(c)
	default:
		return nil, fmt.Errorf("option \"kafka.ssl.endpoint.identification.algorithm\": found %q, expected https or nothing", a)
	}
	return c, versions(c, o)
}

const convert = "turn a store of Java into it by `keytool -importkeystore -srckeystore store.jks -destkeystore store.p12 -deststoretype PKCS12` and `openssl pkcs12 -in store.p12 -nodes -out store.pem`"

// withoutHostName checks that the broker's certificate is signed by one that is trusted, but not for which host.
func withoutHostName(c *tls.Config) {
	c.InsecureSkipVerify = true // the library's check has no part without the host; VerifyConnection does the rest
	roots := c.RootCAs
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the broker shows no certificate")
		}
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, cert := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(cert)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}

// versions reads the versions of TLS that may be used.
func versions(c *tls.Config, o connector.Options) error {
	v, ok := o.Get("kafka.ssl.enabled.protocols")
	if !ok {
		return nil
	}
	c.MinVersion, c.MaxVersion = 0, 0
	for _, p := range strings.Split(v, ",") {
		var n uint16
		switch strings.ToUpper(strings.TrimSpace(p)) {
		case "TLSV1.2":
			n = tls.VersionTLS12
		case "TLSV1.3":
			n = tls.VersionTLS13
		default:
			return fmt.Errorf("option \"kafka.ssl.enabled.protocols\": found %q, expected TLSv1.2 or TLSv1.3", strings.TrimSpace(p))
		}
		if c.MinVersion == 0 || n < c.MinVersion {
			c.MinVersion = n
		}
		c.MaxVersion = max(c.MaxVersion, n)
	}
	return nil
}

// pemOption is PEM given in an option itself, or in the file that another one names; nil for neither.
func pemOption(env connector.Env, o connector.Options, inline, location string) ([]byte, error) {
	text, here := o.Get(inline)
	path, there := o.Get(location)
	switch {
	case here && there:
		return nil, fmt.Errorf("options %q and %q cannot stand together", inline, location)
	case here:
		return []byte(text), nil
	case !there:
		return nil, nil
	}
	b, err := os.ReadFile(resolve(env, path))
	if err != nil {
		return nil, fmt.Errorf("option %q: %w", location, err)
	}
	if block, _ := pem.Decode(b); block == nil {
		return nil, fmt.Errorf("option %q: %q is not in PEM; %s", location, path, convert)
	}
	return b, nil
}
