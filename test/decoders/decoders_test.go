//go:build interop

package decoders

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"moldau/registry/conform"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/protobuf"
)

const (
	// payloads is how many a schema is tried with.
	payloads = 400
	// emptyItems is the limit that java gives to Avro.
	emptyItems = 4096
	// valueParts bounds the parts of a value.
	valueParts = 200
)

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestAvroDecoders(t *testing.T) {
	compare(t, func(r *rand.Rand) (kind byte, schema []byte, text string, f format.Format, value func() []byte) {
		m := &avroMaker{r: r}
		made := m.make(4)
		schema = made.text()
		return 'A', schema, string(schema), avro.New(format.DefaultLimits()), func() []byte {
			m.left = valueParts
			return m.value(nil, made, 8)
		}
	})
}

func TestProtobufDecoders(t *testing.T) {
	compare(t, func(r *rand.Rand) (kind byte, schema []byte, text string, f format.Format, value func() []byte) {
		m := &protoMaker{r: r}
		file := m.file()
		schema, err := proto.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		value = func() []byte {
			m.left = valueParts
			return m.value(nil, file, file.GetMessageType()[0], 4)
		}
		return 'P', schema, base64.StdEncoding.EncodeToString(schema), protobuf.New(format.DefaultLimits()), value
	})
}

// compare tries random schemas with random payloads until the time is over.
func compare(t *testing.T, random func(*rand.Rand) (byte, []byte, string, format.Format, func() []byte)) {
	seed := setting(t, "DECODERS_SEED", uint64(time.Now().UnixNano()))
	t.Logf("DECODERS_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	j, p := java(t), python(t)
	for _, d := range []*decoder{j, p} {
		if d.ask(t, 'A', []byte(`"null"`))[0] != accepted {
			t.Fatalf("%s does not know a type", d.name)
		}
	}
	until := time.Now().Add(time.Duration(setting(t, "DECODERS_SECONDS", 20)) * time.Second)
	c := counts{}
	for time.Now().Before(until) {
		kind, schema, text, f, value := random(r)
		checker, desc := compile(t, f, text)
		if got := j.ask(t, kind, schema)[0]; got != accepted {
			t.Fatalf("java refuses the schema %s", text)
		}
		if got := p.ask(t, kind, schema)[0]; got != accepted {
			t.Fatalf("python refuses the schema %s", text)
		}
		var bodies [][]byte
		for range payloads {
			bodies = append(bodies, change(r, value()))
		}
		inJava := j.ask(t, 'D', bodies...)
		var passed [][]byte
		for i, b := range bodies {
			err := checker.Check(b, nil)
			c.add(err)
			if t.Failed() {
				return
			}
			agreeWithJava(t, kind, text, b, err, inJava[i])
			if err == nil {
				passed = append(passed, b)
			}
		}
		agreeWithPython(t, p, text, desc, passed)
	}
	t.Logf("payloads by what was said of them: %v", c)
	if c[""] < 1000 || c[conform.Malformed] < 1000 {
		t.Errorf("too few payloads were tried: %v", c)
	}
}

type counts map[conform.Reason]int

func (c counts) add(err error) {
	var v *conform.Violation
	if errors.As(err, &v) {
		c[v.Reason]++
		return
	}
	c[""]++
}

// compile makes the checker of a schema, and answers the first message of one of Protobuf.
func compile(t *testing.T, f format.Format, text string) (conform.Checker, protoreflect.MessageDescriptor) {
	t.Helper()
	schema, err := f.Parse(t.Context(), format.Source{Text: text})
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	limits := conform.DefaultLimits()
	limits.EmptyItems = emptyItems
	checker, err := conform.Compile(t.Context(), conform.Input{Schema: schema}, conform.Structure, limits)
	if err != nil {
		t.Fatalf("compile %s: %v", text, err)
	}
	if file, ok := schema.(*protobuf.Schema); ok {
		return checker, file.Descriptor().Messages().Get(0)
	}
	return checker, nil
}

// agreeWithJava wants the same answer, but for one thing: protobuf-java 4.36 takes the tenth byte of a number of 64 bits for
// its last one although the byte says that there are more. It is alone in that, so we do not.
func agreeWithJava(t *testing.T, kind byte, schema string, b []byte, err error, java byte) {
	t.Helper()
	if java == undecided {
		return
	}
	want := byte(accepted)
	var v *conform.Violation
	if errors.As(err, &v) {
		switch {
		case v.Reason == conform.TooDeep && kind == 'A', v.Reason == conform.Encoding && kind == 'A':
			return
		case v.Reason == conform.Trailing:
			want = trailing
		default:
			want = refused
		}
	}
	if kind == 'P' && java == accepted && err != nil && strings.HasSuffix(err.Error(), "a number has too many bytes") {
		return
	}
	if java != want {
		t.Errorf("java says %d, we say %v, of\n%x\n%s", java, err, b, schema)
	}
}

// agreeWithPython wants what passes to be accepted. It is given nothing else: it counts up to the claims of bad payloads.
func agreeWithPython(t *testing.T, python *decoder, schema string, desc protoreflect.MessageDescriptor, passed [][]byte) {
	t.Helper()
	for i, answer := range python.ask(t, 'D', passed...) {
		if desc != nil && !plainHeads(passed[i], desc) {
			continue
		}
		if answer != accepted && answer != undecided {
			t.Errorf("python says %d of %x, which passes\n%s", answer, passed[i], schema)
		}
	}
}

// plainHeads says that no tag and no length of a message has more than five bytes or 32 bits, and no value more than 64.
// Java drops what is beyond, Python refuses it.
func plainHeads(b []byte, d protoreflect.MessageDescriptor) bool {
	groups := []protoreflect.MessageDescriptor{d}
	for len(b) > 0 {
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 || n > 5 || tag > math.MaxUint32 {
			return false
		}
		b = b[n:]
		number, wire := protowire.DecodeTag(tag)
		inside := field(groups[len(groups)-1], number, wire)
		switch wire {
		case protowire.StartGroupType:
			groups = append(groups, inside)
		case protowire.EndGroupType:
			groups = groups[:len(groups)-1]
		case protowire.BytesType:
			length, n := protowire.ConsumeVarint(b)
			if n < 0 || n > 5 || length > math.MaxUint32 || inside != nil && !plainHeads(b[n:n+int(length)], inside) {
				return false
			}
			b = b[n+int(length):]
		default:
			n := protowire.ConsumeFieldValue(number, wire, b)
			if n < 0 {
				return false
			}
			b = b[n:]
		}
	}
	return true
}

// field answers the message that a field holds in this wire type, nil where there is none.
func field(d protoreflect.MessageDescriptor, number protowire.Number, wire protowire.Type) protoreflect.MessageDescriptor {
	if d == nil || d.Fields().ByNumber(number) == nil {
		return nil
	}
	f := d.Fields().ByNumber(number)
	if f.Kind() == protoreflect.GroupKind && wire == protowire.StartGroupType || f.Kind() == protoreflect.MessageKind && wire == protowire.BytesType {
		return f.Message()
	}
	return nil
}

// change makes another payload of one, in most cases a bad one.
func change(r *rand.Rand, b []byte) []byte {
	for range r.IntN(3) {
		at := r.IntN(len(b) + 1)
		switch r.IntN(7) {
		case 0:
			b = b[:at]
		case 1:
			if at < len(b) {
				b[at] ^= 1 << r.IntN(8)
			}
		case 2:
			b = append(b[:at:at], append([]byte{byte(r.IntN(256))}, b[at:]...)...)
		case 3:
			if at < len(b) {
				b = append(b[:at:at], b[at+1:]...)
			}
		case 4:
			end := at + r.IntN(len(b)-at+1)
			b = append(b[:end:end], b[at:]...)
		case 5:
			if at < len(b) {
				b[at] = byte(r.IntN(256))
			}
		case 6:
			odd := binary.AppendUvarint(nil, r.Uint64()>>r.IntN(64))
			if r.IntN(2) == 0 {
				odd[len(odd)-1] |= 0x80
				odd = append(odd, byte(r.IntN(3)))
			}
			b = append(b[:at:at], append(odd, b[at:]...)...)
		}
	}
	return b
}
