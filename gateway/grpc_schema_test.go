package gateway

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/registry/registrytest"
)

const orderFile = `syntax = "proto3"; package shop; message Head {} message Order { string id = 1; int64 units = 2; }`

func schemaValue(json string, s *datav1.Schema) *datav1.Payload {
	return &datav1.Payload{Content: &datav1.Payload_Schema{Schema: &datav1.SchemaValue{Schema: s, Json: []byte(json)}}}
}

func TestGRPCSchemas(t *testing.T) {
	server := registrytest.Start(t)
	e := newEnv(t, func(c *Config) { c.RegistryURLs = []string{server.URL} }, kfake.SeedTopics(1, "t"))
	ctx := t.Context()
	order := &datav1.Schema{
		Reference: &datav1.Schema_Text{Text: &datav1.SchemaText{Format: "PROTOBUF", Text: orderFile, Register: true}},
		Message:   "shop.Order",
	}
	resp, err := e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{
		{Key: text("k"), Value: schemaValue(`{"id":"a","units":"7"}`, order)},
		{Value: schemaValue(`{"idd":"a"}`, order)},
		{Value: schemaValue(`{}`, &datav1.Schema{Reference: &datav1.Schema_Id{}})},
		{Value: schemaValue(`{}`, &datav1.Schema{Reference: &datav1.Schema_Id{Id: 99}})},
		{Value: schemaValue(`{}`, nil)},
		{Value: schemaValue(`{"id":"h"}`, &datav1.Schema{
			Reference: &datav1.Schema_Version{Version: &datav1.SubjectVersion{Subject: "t-value", Version: 1}},
			Message:   "shop.Order", Framing: datav1.SchemaFraming_SCHEMA_FRAMING_HEADER,
		})},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "SCHEMA_MISMATCH", "INVALID_SCHEMA_REFERENCE", "SCHEMA_NOT_FOUND", "", ""} {
		got := ""
		if s := resp.GetResults()[i].GetError(); s != nil {
			for _, d := range status.FromProto(s).Details() {
				if info, ok := d.(*errdetails.ErrorInfo); ok {
					got = info.GetReason()
				}
			}
		}
		if got != want {
			t.Errorf("record %d: %q, want %q", i, got, want)
		}
	}
	read, err := e.consumer.Read(ctx, &datav1.ReadRequest{
		Topic: "t", KeyFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_SCHEMA, ValueFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_SCHEMA,
	})
	if err != nil || len(read.GetRecords()) != 3 {
		t.Fatalf("%v, %v", read, err)
	}
	for i, want := range []struct{ json, message string }{
		{`{"id":"a","units":"7"}`, "shop.Order"}, {`{}`, "shop.Head"}, {`{"id":"h","units":"0"}`, "shop.Order"},
	} {
		v := read.GetRecords()[i].GetValue().GetSchema()
		if string(v.GetJson()) != want.json || v.GetSchema().GetMessage() != want.message || v.GetSchema().GetFormat() != "PROTOBUF" {
			t.Errorf("record %d: %v", i, read.GetRecords()[i])
		}
	}
	if r := read.GetRecords()[0]; string(r.GetKey().GetRaw()) != "k" || r.GetKeyDecodeError() == "" || r.GetValueDecodeError() != "" || r.GetValue().GetSchema().GetSchema().GetId() != 1 {
		t.Errorf("%v", r)
	}
	if h := read.GetRecords()[2]; len(h.GetHeaders()) != 1 || h.GetHeaders()[0].GetKey() != "__value_schema_id" || h.GetValue().GetSchema().GetSchema().GetGuid() == "" {
		t.Errorf("%v", h)
	}
	_, err = e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{
		{Headers: []*datav1.Header{{Key: "h", Value: schemaValue(`1`, order)}}},
	}})
	wantError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
	_, err = e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{Value: schemaValue(``, order)}}})
	wantError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
}
