package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/goleak"

	"moldau/cmd/moldau/internal/exit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestParseJAAS(t *testing.T) {
	for text, want := range map[string]string{
		`org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="s3cret";`: "alice s3cret",
		`  X required password='x' username=bob ;`:                                                             "bob 'x'",
		`X required username="a b" password="q\"uo\\te=;";`:                                                    `a b q"uo\te=;`,
		"X required\n\tusername=\"u\"\n\tpassword=\"p\"\n\tk=\"v\";":                                           "u p",
	} {
		user, password, err := parseJAAS(text)
		if err != nil || user+" "+password != want {
			t.Errorf("%s: %q %q %v, want %q", text, user, password, err, want)
		}
	}
	for _, text := range []string{"", "X required;", `X required username="a`, "X required ===", "{}"} {
		if user, _, err := parseJAAS(text); err == nil {
			t.Errorf("%q: no error, user %q", text, user)
		}
	}
}

func FuzzParseJAAS(f *testing.F) {
	f.Add(`X required username="a" password="b";`)
	f.Fuzz(func(t *testing.T, text string) {
		user, _, err := parseJAAS(text)
		if err == nil && user == "" {
			t.Fatalf("%q: neither a user nor an error", text)
		}
	})
}

// reach asks a cluster for its metadata.
func reach(t *testing.T, f *Flags) error {
	t.Helper()
	f.Timeout = 10 * time.Second
	cl, err := f.Connect()
	if err != nil {
		return err
	}
	defer cl.Close()
	return f.Explain(cl.Ping(t.Context()))
}

func TestSASL(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "alice", "s3cret"), kfake.Superuser("PLAIN", "bob", "pw"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	file := filepath.Join(t.TempDir(), "client.properties")
	text := "bootstrap.servers=" + strings.Join(c.ListenAddrs(), ",") + "\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n" +
		"sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  username=\"alice\" password=\"s3cret\";\nlinger.ms=5\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := reach(t, &Flags{Config: file}); err != nil {
		t.Errorf("SCRAM by file: %v", err)
	}
	plain := []string{"sasl.mechanism=PLAIN", "sasl.jaas.config=", "sasl.username=bob"}
	if err := reach(t, &Flags{Config: file, Sets: append(plain, "sasl.password=pw")}); err != nil {
		t.Errorf("PLAIN by flags: %v", err)
	}
	err = reach(t, &Flags{Config: file, Sets: append(plain, "sasl.password=wrong")})
	var e *exit.Error
	// This broker hangs up; Kafka answers SASL_AUTHENTICATION_FAILED.
	if !errors.As(err, &e) || e.Code != exit.Unhealthy || !strings.Contains(err.Error(), "password") {
		t.Errorf("a wrong password: %v, want a hint at the password", err)
	}
}

func TestTLS(t *testing.T) {
	pair, ca := certificate(t)
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f := Flags{Brokers: c.ListenAddrs(), Sets: []string{"security.protocol=SSL", "ssl.ca.location=" + ca}}
	if err := reach(t, &f); err != nil {
		t.Errorf("with the authority: %v", err)
	}
	f.Sets = []string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + ca}
	if err := reach(t, &f); err != nil {
		t.Errorf("with a trust store: %v", err)
	}
	f.Sets = []string{"security.protocol=SSL"}
	if err := reach(t, &f); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority: %v, want an error about the certificate", err)
	}
}

// certificate makes a server's certificate for 127.0.0.1 that is its own
// authority, and writes that to a file.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path
}

func TestPropertiesErrors(t *testing.T) {
	for _, sets := range [][]string{
		{"security.protocol=TLS"},
		{"security.protocol=SASL_PLAINTEXT"},
		{"security.protocol=SASL_PLAINTEXT", "sasl.username=a", "sasl.mechanism=GSSAPI"},
		{"security.protocol=SASL_PLAINTEXT", "sasl.jaas.config=nonsense"},
		{"security.protocol=SSL", "ssl.ca.location=/does/not/exist"},
		{"security.protocol=SSL", "ssl.truststore.location=store.jks"},
		{"security.protocol=SSL", "ssl.certificate.location=/does/not/exist"},
		{"no.such.key=1"},
	} {
		_, err := (&Flags{Sets: sets}).Connect()
		var e *exit.Error
		if !errors.As(err, &e) || e.Code != exit.Usage {
			t.Errorf("%v: %v, want a usage error", sets, err)
		}
	}
}

func TestBrokersInOrderOfStrength(t *testing.T) {
	for _, tt := range []struct {
		f    Flags
		p    properties
		env  string
		want string
	}{
		{want: "[localhost:9092]"},
		{env: " a:1 , b:2,", want: "[a:1 b:2]"},
		{env: "a:1", p: properties{Bootstrap: []string{"c:3"}}, want: "[c:3]"},
		{env: "a:1", p: properties{Bootstrap: []string{"c:3"}}, f: Flags{Brokers: []string{"d:4"}}, want: "[d:4]"},
	} {
		t.Setenv(Variable, tt.env)
		if got := fmt.Sprint(tt.f.brokers(&tt.p)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	f := &Flags{}
	for _, tt := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("x: %w", kerr.TopicAuthorizationFailed), exit.Denied},
		{kerr.SaslAuthenticationFailed, exit.Denied},
		{kerr.UnknownTopicOrPartition, exit.NotFound},
		{kerr.NotEnoughReplicas, exit.Unhealthy},
		{kerr.CoordinatorNotAvailable, exit.Unhealthy},
		{context.DeadlineExceeded, exit.Unhealthy},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, exit.Unhealthy},
		{&exit.Error{Code: exit.Usage, Err: kerr.UnknownTopicOrPartition}, exit.Usage},
	} {
		var e *exit.Error
		if err := f.Explain(tt.err); !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%v: %v, want exit code %d", tt.err, err, tt.code)
		}
	}
	if err := f.Explain(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	other := errors.New("other")
	if err := f.Explain(other); err != other { //nolint:errorlint // it must come back untouched
		t.Errorf("%v", err)
	}
}
