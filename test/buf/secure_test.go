//go:build interop

package buf

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificates makes an authority and a certificate of it for loopback, and returns the paths of their files.
func certificates(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	template := func(n int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(n), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	root := template(1, "test authority")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := template(2, "registry")
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "PRIVATE KEY", keyDER)
}

// TestTLSAndTokens pushes over TLS with a private authority, as somebody, as nobody, and as somebody unknown.
func TestTLSAndTokens(t *testing.T) {
	ca, cert, key := certificates(t)
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("ada secret-of-ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--set", "registry.tokens.file="+file, "--set", "registry.tls.cert.file="+cert, "--set", "registry.tls.key.file="+key)
	tls := "  use: local\n  root_cert_file_paths:\n    - " + ca + "\n"
	ada, nobody, eve := newCLI(t, tls, "BUF_TOKEN=secret-of-ada"), newCLI(t, tls), newCLI(t, tls, "BUF_TOKEN=secret-of-eve")
	for _, c := range []*cli{ada, nobody, eve} {
		c.module("open", s.registry+"/acme/open")
		c.write("open/orders/v1/order.proto", order)
		c.module("closed", s.registry+"/acme/closed")
		c.write("closed/closed/v1/order.proto", "syntax = \"proto3\";\npackage closed.v1;\n")
	}
	nobody.refused("open", []string{"authenticated"}, "push", "--create", "--create-visibility", "public")
	eve.refused("open", []string{"not valid"}, "push", "--create", "--create-visibility", "public")
	ada.run("open", "push", "--create", "--create-visibility", "public")
	ada.run("closed", "push", "--create", "--create-visibility", "private")
	nobody.run("open", "export", s.registry+"/acme/open", "-o", "../out")
	nobody.refused("open", []string{"acme/closed"}, "export", s.registry+"/acme/closed", "-o", "../out2")
	nobody.refused("open", []string{"authenticated"}, "push")
	ada.run("open", "export", s.registry+"/acme/closed", "-o", "../out")
	if out := ada.run("open", "registry", "whoami", s.registry); out != "Logged in as ada." {
		t.Errorf("whoami says %q", out)
	}
	nobody.refused("open", []string{"Not currently logged in"}, "registry", "whoami", s.registry)
	// Logging in keeps the token in the file of the user.
	login := newCLI(t, tls)
	login.write("token", "secret-of-ada\n")
	if out, err := login.tryInput("", "token", "registry", "login", s.registry, "--token-stdin"); err != nil {
		t.Fatalf("login: %v\n%s", err, out)
	}
	if out := login.run("", "registry", "whoami", s.registry); out != "Logged in as ada." {
		t.Errorf("after logging in whoami says %q", out)
	}
	login.run("", "registry", "logout", s.registry)
	// A client that does not trust the authority does not talk to the server.
	stranger := newCLI(t, "  use: system\n")
	stranger.refused("", []string{"certificate"}, "registry", "module", "info", s.registry+"/acme/open")
}
