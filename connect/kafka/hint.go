package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// withHint adds to an error of the first connection what to do about it, where the error tells what is wrong.
func withHint(err error) error {
	if h := hint(err); h != "" {
		return fmt.Errorf("%w; %s", err, h)
	}
	return err
}

func hint(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		noTLS     tls.RecordHeaderError
		text      = err.Error()
	)
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return "the brokers do not accept the login: check the user name, the password or the token in kafka.sasl.jaas.config, and that the brokers know this user for this kafka.sasl.mechanism"
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return "set kafka.sasl.mechanism to one that this listener of the brokers has, or use another listener's port"
	case errors.As(err, &authority):
		return "set kafka.ssl.truststore.location to a file in PEM with the certificate of the authority that has signed the brokers' certificate"
	case errors.As(err, &host):
		return "use a name in kafka.bootstrap.servers, and in the brokers' advertised.listeners, that their certificate has, or set kafka.ssl.endpoint.identification.algorithm to nothing"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the brokers' certificate has to be renewed, or the clock of this machine is wrong"
	case strings.Contains(text, "tls: certificate required"), strings.Contains(text, "tls: bad certificate"),
		strings.Contains(text, "tls: handshake failure"):
		return "the brokers ask for a certificate of the client that they trust: set kafka.ssl.keystore.location to a file in PEM with the certificate and its key"
	case strings.Contains(text, "tls: unknown certificate authority"), strings.Contains(text, "tls: unknown certificate"):
		return "the brokers do not trust the certificate of kafka.ssl.keystore.location: use one that an authority of their trust store has signed"
	case errors.As(err, &noTLS), strings.Contains(text, "first record does not look like a TLS handshake"):
		return "this listener of the brokers does not speak TLS: set kafka.security.protocol to PLAINTEXT or SASL_PLAINTEXT, or use the port of a listener with TLS"
	case errors.As(err, new(*kgo.ErrFirstReadEOF)), errors.Is(err, io.ErrUnexpectedEOF):
		return "the brokers have closed the connection: set kafka.security.protocol to the one of this listener of theirs, PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, and see their log"
	}
	return ""
}
