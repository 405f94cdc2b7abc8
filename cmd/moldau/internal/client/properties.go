package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// properties are the client keys that say how to reach a cluster: those of
// Kafka's Java client, and librdkafka's where those name files in PEM.
type properties struct {
	Bootstrap []string `kafka:"bootstrap.servers"`
	ClientID  string   `kafka:"client.id"`
	Protocol  string   `kafka:"security.protocol"`
	Mechanism string   `kafka:"sasl.mechanism"`
	JAAS      string   `kafka:"sasl.jaas.config"`
	Username  string   `kafka:"sasl.username"`
	Password  string   `kafka:"sasl.password"`

	Truststore     string `kafka:"ssl.truststore.location"`
	TruststoreType string `kafka:"ssl.truststore.type"`
	CA             string `kafka:"ssl.ca.location"`
	Certificate    string `kafka:"ssl.certificate.location"`
	Key            string `kafka:"ssl.key.location"`
}

// options turns the properties into options of the client.
func (p *properties) options(version string) ([]kgo.Opt, error) {
	opts := []kgo.Opt{kgo.ClientID(p.ClientID), kgo.SoftwareNameAndVersion("moldau-cli", version)}
	useTLS, useSASL := false, false
	switch protocol := strings.ToUpper(p.Protocol); protocol {
	case "", "PLAINTEXT":
	case "SSL":
		useTLS = true
	case "SASL_PLAINTEXT":
		useSASL = true
	case "SASL_SSL":
		useTLS, useSASL = true, true
	default:
		return nil, fmt.Errorf("security.protocol: %q is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL", p.Protocol)
	}
	if useTLS {
		c, err := p.tls()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(c))
	}
	if useSASL {
		m, err := p.sasl()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

func (p *properties) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	ca := p.CA
	if p.Truststore != "" {
		if !strings.EqualFold(p.TruststoreType, "PEM") {
			return nil, errors.New("ssl.truststore.type: only PEM can be read; convert the store, or name the certificate with ssl.ca.location")
		}
		ca = p.Truststore
	}
	if ca != "" {
		raw, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("certificates of the authority: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", ca)
		}
	}
	if p.Certificate != "" || p.Key != "" {
		pair, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (p *properties) sasl() (sasl.Mechanism, error) {
	user, password := p.Username, p.Password
	if p.JAAS != "" {
		var err error
		if user, password, err = parseJAAS(p.JAAS); err != nil {
			return nil, fmt.Errorf("sasl.jaas.config: %w", err)
		}
	}
	if user == "" {
		return nil, errors.New("SASL needs sasl.username and sasl.password, or sasl.jaas.config")
	}
	switch strings.ToUpper(p.Mechanism) {
	case "", "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("sasl.mechanism: %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", p.Mechanism)
}

// parseJAAS takes user name and password out of a line such as
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b";
func parseJAAS(text string) (user, password string, err error) {
	for rest := strings.TrimSuffix(strings.TrimSpace(text), ";"); ; {
		rest = strings.TrimLeft(rest, " \t\n")
		if rest == "" {
			break
		}
		word := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._$"))]
		if word == "" {
			return "", "", fmt.Errorf("cannot be read from %q on", rest[:1])
		}
		rest = rest[len(word):]
		if !strings.HasPrefix(rest, "=") {
			continue // the module's name, or "required"
		}
		value, after, err := jaasValue(rest[1:])
		if err != nil {
			return "", "", err
		}
		switch word {
		case "username":
			user = value
		case "password":
			password = value
		}
		rest = after
	}
	if user == "" {
		return "", "", errors.New("it names no username")
	}
	return user, password, nil
}

// jaasValue reads a value, in double quotes with backslash escapes or bare.
func jaasValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t\n;")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '"':
			return b.String(), s[i+1:], nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("a quote is not closed")
}

func splitAddresses(list string) []string {
	var out []string
	for a := range strings.SplitSeq(list, ",") {
		if a = strings.TrimSpace(a); a != "" {
			out = append(out, a)
		}
	}
	return out
}
