package config

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestParseListeners(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   ListenerTexts
		want []Listener
	}{
		{"default", ListenerTexts{Listeners: "PLAINTEXT://localhost:9092"}, []Listener{{Name: "PLAINTEXT", Protocol: "PLAINTEXT", Host: "localhost", Port: 9092}}},
		{"no host is loopback", ListenerTexts{Listeners: "plaintext://:0"}, []Listener{{Name: "PLAINTEXT", Protocol: "PLAINTEXT", Host: "localhost"}}},
		{"off", ListenerTexts{Listeners: " OFF "}, nil},
		{"none", ListenerTexts{}, nil},
		{
			"named, mapped and advertised",
			ListenerTexts{
				Listeners:   "IN://10.0.0.1:19092, OUT://[::]:9092",
				Advertised:  "OUT://kafka.example.com:443",
				ProtocolMap: "IN:PLAINTEXT,out:sasl_ssl",
			},
			[]Listener{
				{Name: "IN", Protocol: "PLAINTEXT", Host: "10.0.0.1", Port: 19092},
				{Name: "OUT", Protocol: "SASL_SSL", Host: "::", Port: 9092, AdvertisedHost: "kafka.example.com", AdvertisedPort: 443},
			},
		},
		{
			"controllers are left out",
			ListenerTexts{
				Listeners:   "PLAINTEXT://:9092,CONTROLLER://:9093",
				Advertised:  "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
				Controllers: "CONTROLLER",
				ProtocolMap: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
			},
			[]Listener{{Name: "PLAINTEXT", Protocol: "PLAINTEXT", Host: "localhost", Port: 9092, AdvertisedHost: "localhost", AdvertisedPort: 9092}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseListeners(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestParseListenersErrors(t *testing.T) {
	for _, tt := range []struct {
		in   ListenerTexts
		want string
	}{
		{ListenerTexts{Listeners: "localhost:9092"}, "want NAME://host:port"},
		{ListenerTexts{Listeners: "PLAINTEXT://localhost"}, "want host:port"},
		{ListenerTexts{Listeners: "PLAINTEXT://::1:9092"}, "brackets"},
		{ListenerTexts{Listeners: "PLAINTEXT://h:65536"}, "no port"},
		{ListenerTexts{Listeners: "PLAINTEXT://h:-1"}, "no port"},
		{ListenerTexts{Listeners: "INTERNAL://:9092"}, "add INTERNAL:PLAINTEXT to listener.security.protocol.map"},
		{ListenerTexts{Listeners: "A://:1,A://:2", ProtocolMap: "A:PLAINTEXT"}, "stands twice"},
		{ListenerTexts{Listeners: "A://:1", ProtocolMap: "A:TLS"}, "security protocols are"},
		{ListenerTexts{Listeners: "A://:1", ProtocolMap: "A"}, "want NAME:PROTOCOL"},
		{ListenerTexts{Listeners: "PLAINTEXT://:1", Advertised: "OTHER://h:1"}, "not among listeners"},
		{ListenerTexts{Listeners: "PLAINTEXT://:1", Advertised: "PLAINTEXT://0.0.0.0:1"}, "clients cannot connect"},
		{ListenerTexts{Listeners: "PLAINTEXT://0.0.0.0:9092"}, "--set advertised.listeners=PLAINTEXT://"},
	} {
		_, err := ParseListeners(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q in it", tt.in, err, tt.want)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]Address{
		"":               {Off: true},
		"off":            {Off: true},
		"8080":           {Host: "localhost", Port: 8080},
		":0":             {Host: "localhost"},
		"127.0.0.1:1":    {Host: "127.0.0.1", Port: 1},
		"[::1]:1":        {Host: "::1", Port: 1},
		"0.0.0.0:8080":   {Host: "0.0.0.0", Port: 8080},
		"example.com:80": {Host: "example.com", Port: 80},
	} {
		got, err := ParseAddress(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := ParseAddress(got.String()); err != nil || again != got {
			t.Errorf("%q: its text %q is read as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"host", "host:", "host:99999", "::1:80", "http://x:1"} {
		if got, err := ParseAddress(text); err == nil {
			t.Errorf("%q: no error, got %+v", text, got)
		}
	}
}

func TestCheckExposure(t *testing.T) {
	open := []Listener{{Name: "PLAINTEXT", Protocol: "PLAINTEXT", Host: "0.0.0.0", Port: 9092}}
	local := []Listener{{Name: "A", Protocol: "PLAINTEXT", Host: "localhost"}, {Name: "B", Protocol: "SSL", Host: "127.0.0.2"}, {Name: "C", Protocol: "SASL_SSL", Host: "0.0.0.0"}}
	if err := CheckExposure(local, map[string]Address{"http.listen": {Host: "::1"}, "grpc.listen": {Off: true}}); err != nil {
		t.Error(err)
	}
	err := CheckExposure(open, map[string]Address{"http.listen": {Host: "10.0.0.1", Port: 8080}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"PLAINTEXT on 0.0.0.0", "http.listen on 10.0.0.1", "--set listeners=PLAINTEXT://localhost:9092", "--set http.listen=localhost:8080", "--insecure-no-auth"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in: %v", want, err)
		}
	}
}

func TestListenLoopback(t *testing.T) {
	ls, err := Listen(t.Context(), Loopback, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ls)
	port := ls[0].Addr().(*net.TCPAddr).Port
	for _, l := range ls {
		a := l.Addr().(*net.TCPAddr)
		if !a.IP.IsLoopback() || a.Port != port {
			t.Errorf("listens on %s, want loopback and port %d", a, port)
		}
	}
	if _, err := Listen(t.Context(), "127.0.0.1", port); err == nil || !strings.Contains(err.Error(), "taken by another process") {
		t.Errorf("a taken port: %v", err)
	}
	if _, err := Listen(t.Context(), Loopback, port); err == nil {
		t.Error("a taken port on loopback: no error")
	}
}

func closeAll(ls []net.Listener) {
	for _, l := range ls {
		_ = l.Close()
	}
}

// FuzzParseListeners checks that whatever is accepted has a name, a known
// protocol and a host.
func FuzzParseListeners(f *testing.F) {
	f.Add("PLAINTEXT://:9092", "", "")
	f.Add("A://[::1]:1,B://h:2", "A://x:3", "A:SSL,B:PLAINTEXT")
	f.Fuzz(func(t *testing.T, listeners, advertised, protocolMap string) {
		ls, err := ParseListeners(ListenerTexts{Listeners: listeners, Advertised: advertised, ProtocolMap: protocolMap})
		if err != nil {
			return
		}
		for _, l := range ls {
			if l.Name == "" || !protocols[l.Protocol] || l.Host == "" || l.Port < 0 || l.Port > 65535 {
				t.Fatalf("%q gave %+v", listeners, l)
			}
		}
	})
}
