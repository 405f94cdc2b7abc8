package conform

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// The record of the benchmarks: an order of eleven fields with a nested address, five items and a map of five.
const (
	orderAvro = `{"type":"record","name":"Order","namespace":"shop","fields":[
	{"name":"id","type":"string"},{"name":"customer","type":"long"},{"name":"placed","type":"long"},
	{"name":"total","type":"double"},{"name":"currency","type":"string"},{"name":"paid","type":"boolean"},
	{"name":"status","type":{"type":"enum","name":"Status","symbols":["NEW","PAID","SHIPPED","DONE"]}},
	{"name":"note","type":["null","string"]},
	{"name":"address","type":{"type":"record","name":"Address","fields":[{"name":"street","type":"string"},
		{"name":"city","type":"string"},{"name":"code","type":"string"},{"name":"country","type":"string"}]}},
	{"name":"items","type":{"type":"array","items":{"type":"record","name":"Item","fields":[{"name":"sku","type":"string"},
		{"name":"name","type":"string"},{"name":"quantity","type":"int"},{"name":"price","type":"double"}]}}},
	{"name":"labels","type":{"type":"map","values":"string"}}]}`

	orderProto = `syntax = "proto3"; package shop;
	message Order { string id = 1; int64 customer = 2; int64 placed = 3; double total = 4; string currency = 5; bool paid = 6;
		Status status = 7; optional string note = 8; Address address = 9; repeated Item items = 10; map<string, string> labels = 11; }
	enum Status { NEW = 0; PAID = 1; SHIPPED = 2; DONE = 3; }
	message Address { string street = 1; string city = 2; string code = 3; string country = 4; }
	message Item { string sku = 1; string name = 2; int32 quantity = 3; double price = 4; }`

	orderJSON = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,
	"required":["id","customer","placed","total","currency","items"],"properties":{
	"id":{"type":"string","minLength":1,"maxLength":64},"customer":{"type":"integer","minimum":1},"placed":{"type":"integer"},
	"total":{"type":"number","minimum":0},"currency":{"type":"string","pattern":"^[A-Z]{3}$"},"paid":{"type":"boolean"},
	"status":{"enum":["NEW","PAID","SHIPPED","DONE"]},"note":{"oneOf":[{"type":"null"},{"type":"string"}]},
	"address":{"$ref":"#/definitions/address"},
	"items":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","required":["sku","quantity"],"properties":{
		"sku":{"type":"string"},"name":{"type":"string"},"quantity":{"type":"integer","minimum":1},"price":{"type":"number"}}}},
	"labels":{"type":"object","additionalProperties":{"type":"string"}}},
	"definitions":{"address":{"type":"object","required":["city"],"properties":{"street":{"type":"string"},"city":{"type":"string"},
		"code":{"type":"string"},"country":{"type":"string"}}}}}`
)

const (
	orderID, orderNote = "b7e4f9d2-6a53-4c1e-8f0b-2d9c7a51e6f3", "please ring the bell twice"
	orderCustomer      = 982_451_653
	orderPlaced        = 1_796_092_000_000
)

var address = []string{"Karlův most 12", "Praha", "110 00", "CZ"}

func orderAvroPayload() []byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendVarint(b, int64(len(s))), s...) }
	double := func(f float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f)) }
	text(orderID)
	b = binary.AppendVarint(b, orderCustomer)
	b = binary.AppendVarint(b, orderPlaced)
	double(199.95)
	text("CZK")
	b = append(b, 1, 2, 2)
	text(orderNote)
	for _, line := range address {
		text(line)
	}
	b = binary.AppendVarint(b, 5)
	for i := range 5 {
		text(fmt.Sprintf("sku-%06d", i))
		text("a thing to be sold")
		b = binary.AppendVarint(b, int64(i+1))
		double(39.99)
	}
	b = append(b, 0)
	b = binary.AppendVarint(b, 5)
	for i := range 5 {
		text(fmt.Sprintf("label-%d", i))
		text("value of it")
	}
	return append(b, 0)
}

func orderProtoPayload() []byte {
	text := func(b []byte, n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
	}
	number := func(b []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	double := func(b []byte, n protowire.Number, f float64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), math.Float64bits(f))
	}
	b := number(number(text(nil, 1, orderID), 2, orderCustomer), 3, orderPlaced)
	b = text(number(number(text(double(b, 4, 199.95), 5, "CZK"), 6, 1), 7, 1), 8, orderNote)
	var inner []byte
	for i, line := range address {
		inner = text(inner, protowire.Number(i+1), line)
	}
	b = text(b, 9, string(inner))
	for i := range 5 {
		item := text(text(nil, 1, fmt.Sprintf("sku-%06d", i)), 2, "a thing to be sold")
		b = text(b, 10, string(double(number(item, 3, uint64(i+1)), 4, 39.99)))
	}
	for i := range 5 {
		b = text(b, 11, string(text(text(nil, 1, fmt.Sprintf("label-%d", i)), 2, "value of it")))
	}
	return b
}

func orderJSONPayload() []byte {
	var items []any
	labels := map[string]string{}
	for i := range 5 {
		sku := fmt.Sprintf("sku-%06d", i)
		items = append(items, map[string]any{"sku": sku, "name": "a thing to be sold", "quantity": i + 1, "price": 39.99})
		labels[fmt.Sprintf("label-%d", i)] = "value of it"
	}
	b, err := json.Marshal(map[string]any{
		"id": orderID, "customer": orderCustomer, "placed": orderPlaced, "total": 199.95, "currency": "CZK", "paid": true,
		"status": "PAID", "note": orderNote, "items": items, "labels": labels,
		"address": map[string]any{"street": address[0], "city": address[1], "code": address[2], "country": address[3]},
	})
	if err != nil {
		panic(err)
	}
	return b
}

type order struct {
	kind, schema string
	payload      []byte
}

func orders() map[string]order {
	return map[string]order{
		"avro":     {format.Avro, orderAvro, orderAvroPayload()},
		"protobuf": {format.Protobuf, orderProto, orderProtoPayload()},
		"json":     {format.JSON, orderJSON, orderJSONPayload()},
	}
}

func TestStructureAllocatesNothing(t *testing.T) {
	for name, o := range orders() {
		c := compile(t, Structure, o.kind, o.schema)
		if err := c.Check(o.payload, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		allocs := testing.AllocsPerRun(100, func() {
			if err := c.Check(o.payload, nil); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// TestDamage changes every byte of the order to what no text has, and cuts the order at every byte.
func TestDamage(t *testing.T) {
	for name, o := range orders() {
		c := compile(t, Structure, o.kind, o.schema)
		found := 0
		for i := range o.payload {
			o.payload[i] ^= 0x80
			if c.Check(o.payload, nil) != nil {
				found++
			}
			o.payload[i] ^= 0x80
		}
		if found < len(o.payload)*8/10 {
			t.Errorf("%s: damage was found for %d of %d bytes", name, found, len(o.payload))
		}
		for i := range o.payload {
			if c.Check(o.payload[:i], nil) == nil && o.kind != format.Protobuf {
				t.Errorf("%s: cut at %d it passes", name, i)
			}
		}
	}
}

func benchmark(b *testing.B, kind string, level Level, rules ...catalog.Rule) {
	o := orders()[kind]
	c := compile(b, level, o.kind, o.schema, rules...)
	if err := c.Check(o.payload, nil); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(o.payload)))
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Check(o.payload, nil)
	}
}

func BenchmarkStructure(b *testing.B) {
	for _, kind := range []string{"avro", "protobuf", "json"} {
		b.Run(kind, func(b *testing.B) { benchmark(b, kind, Structure) })
	}
}

func BenchmarkRules(b *testing.B) {
	rule := catalog.Rule{Name: "items", Kind: "CONDITION", Type: "CEL", Mode: "WRITE", Expr: "message.items.all(i, i.quantity > 0)"}
	for _, kind := range []string{"avro", "protobuf", "json"} {
		b.Run(kind, func(b *testing.B) { benchmark(b, kind, Rules, rule) })
	}
}

// BenchmarkLibrary is what the single pass of JSON saves.
func BenchmarkLibrary(b *testing.B) {
	o := orders()["json"]
	c := compile(b, Structure, o.kind, o.schema).(*jsonChecker)
	b.ReportAllocs()
	for b.Loop() {
		if v := c.ask(o.payload); v != nil {
			b.Fatal(v)
		}
	}
}
