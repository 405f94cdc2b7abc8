package gateway

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	adminv1 "moldau/gen/moldau/admin/v1"
	datav1 "moldau/gen/moldau/data/v1"
)

// reason returns the code and the reason of a gRPC error.
func reason(err error) (codes.Code, string) {
	st := status.Convert(err)
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return st.Code(), info.GetReason()
		}
	}
	return st.Code(), ""
}

func wantError(t *testing.T, err error, code codes.Code, want string) {
	t.Helper()
	if c, r := reason(err); c != code || r != want {
		t.Errorf("%v: %v %s, want %v %s", err, c, r, code, want)
	}
}

func TestGRPCRoundTrip(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t"))
	ctx := t.Context()
	ts := timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC))
	resp, err := e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{
		{
			Partition: proto.Int32(1), Timestamp: ts, Key: text("k"), Value: &datav1.Payload{Content: &datav1.Payload_Json{Json: []byte(`{"n": 9007199254740993}`)}},
			Headers: []*datav1.Header{{Key: "h", Value: &datav1.Payload{Content: &datav1.Payload_Raw{Raw: []byte{0xff}}}}, {Key: "null"}},
		},
		{Partition: proto.Int32(1), Value: &datav1.Payload{Content: &datav1.Payload_Raw{Raw: []byte{}}}},
		{Partition: proto.Int32(1)},
		{Partition: proto.Int32(9)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if p := resp.Results[0].GetPosition(); p.GetPartition() != 1 || p.GetOffset() != 0 || !p.GetTimestamp().AsTime().Equal(ts.AsTime()) {
		t.Errorf("%v", resp.Results[0])
	}
	wantError(t, status.ErrorProto(resp.Results[3].GetError()), codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
	read, err := e.consumer.Read(ctx, &datav1.ReadRequest{Topic: "t", ValueFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_AUTO, KeyFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_TEXT})
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Records) != 3 || read.Cursor == "" {
		t.Fatalf("%v", read)
	}
	r := read.Records[0]
	if r.Key.GetText() != "k" || string(r.Value.GetJson()) != `{"n":9007199254740993}` || !r.Timestamp.AsTime().Equal(ts.AsTime()) ||
		string(r.Headers[0].Value.GetRaw()) != "\xff" || r.Headers[1].Value != nil {
		t.Errorf("%v", r)
	}
	if r = read.Records[1]; r.Value == nil || r.Value.GetText() != "" || r.Key != nil {
		t.Errorf("empty: %v", r)
	}
	if r = read.Records[2]; r.Value != nil {
		t.Errorf("null: %v", r)
	}
	raw, err := e.consumer.Read(ctx, &datav1.ReadRequest{
		Topic: "t", Partition: proto.Int32(1), Limit: 1,
		Start: &datav1.Start{Position: &datav1.Start_Offset{Offset: 0}},
	})
	if err != nil || len(raw.Records) != 1 || string(raw.Records[0].Value.GetRaw()) != `{"n":9007199254740993}` {
		t.Errorf("raw: %v, %v", raw, err)
	}
}

func TestGRPCStarts(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	ctx := t.Context()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var records []*datav1.Record
	for i := range 4 {
		records = append(records, &datav1.Record{Timestamp: timestamppb.New(at.Add(time.Duration(i) * time.Second))})
	}
	if _, err := e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "t", Records: records}); err != nil {
		t.Fatal(err)
	}
	half, err := e.consumer.Read(ctx, &datav1.ReadRequest{Topic: "t", Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		start *datav1.Start
		want  int
	}{
		{"earliest", &datav1.Start{Position: &datav1.Start_Earliest{Earliest: &emptypb.Empty{}}}, 4},
		{"latest", &datav1.Start{Position: &datav1.Start_Latest{Latest: &emptypb.Empty{}}}, 0},
		{"offset", &datav1.Start{Position: &datav1.Start_Offset{Offset: 3}}, 1},
		{"time", &datav1.Start{Position: &datav1.Start_Time{Time: timestamppb.New(at.Add(time.Second))}}, 3},
		{"cursor", &datav1.Start{Position: &datav1.Start_Cursor{Cursor: half.Cursor}}, 2},
	} {
		got, err := e.consumer.Read(ctx, &datav1.ReadRequest{Topic: "t", Start: c.start})
		if err != nil || len(got.Records) != c.want {
			t.Errorf("%s: %d records, want %d (%v)", c.name, len(got.GetRecords()), c.want, err)
		}
	}
}

func TestGRPCRefuses(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.MaxGRPCBytes = 1 << 20 }, kfake.SeedTopics(1, "t"))
	ctx := t.Context()
	produce := func(q *datav1.ProduceRequest) error {
		_, err := e.producer.Produce(ctx, q)
		return err
	}
	wantError(t, produce(&datav1.ProduceRequest{Topic: "t"}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, produce(&datav1.ProduceRequest{Records: texts("a")}), codes.InvalidArgument, "INVALID_TOPIC_EXCEPTION")
	wantError(t, produce(&datav1.ProduceRequest{Topic: "nope", Records: texts("a")}), codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
	err := produce(&datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{}, {Value: &datav1.Payload{Content: &datav1.Payload_Json{Json: []byte("{")}}}}})
	wantError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT")
	for _, d := range status.Convert(err).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok && bad.FieldViolations[0].Field != "records[1].value" {
			t.Errorf("field %v", bad)
		}
	}
	wantError(t, produce(&datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{Key: &datav1.Payload{}}}}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, produce(&datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{Partition: proto.Int32(-1)}}}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, produce(&datav1.ProduceRequest{Topic: "t", Records: []*datav1.Record{{Timestamp: &timestamppb.Timestamp{Seconds: -1}}}}), codes.InvalidArgument, "INVALID_ARGUMENT")
	if c, _ := reason(produce(&datav1.ProduceRequest{Topic: "t", Records: texts(string(make([]byte, 2<<20)))})); c != codes.ResourceExhausted {
		t.Errorf("a message over the limit: %v", c)
	}
	read := func(q *datav1.ReadRequest) error {
		_, err := e.consumer.Read(ctx, q)
		return err
	}
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Limit: -1}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Limit: 10_001}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Wait: durationpb.New(time.Hour)}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Partition: proto.Int32(-2)}), codes.InvalidArgument, "INVALID_ARGUMENT")
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Start: &datav1.Start{Position: &datav1.Start_Cursor{Cursor: "x"}}}), codes.InvalidArgument, "INVALID_CURSOR")
	wantError(t, read(&datav1.ReadRequest{Topic: "t", Start: &datav1.Start{Position: &datav1.Start_Offset{Offset: 7}}}), codes.OutOfRange, "OFFSET_OUT_OF_RANGE")
}

func TestGRPCProduceStream(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t", "u"))
	ss, err := e.producer.ProduceStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const n = 100 // more than the window
	go func() {
		for i := range int64(n) {
			q := &datav1.ProduceStreamRequest{Sequence: i, Records: texts("a", "b")}
			switch {
			case i == 0:
				q.Topic = "t"
			case i == 50:
				q.Topic = "u"
			case i == 30:
				q.Records[1].Partition = proto.Int32(5) // this record fails
			case i == 31:
				q.Records = nil // this batch fails
			}
			if err := ss.Send(q); err != nil {
				t.Error(err)
			}
		}
		if err := ss.CloseSend(); err != nil {
			t.Error(err)
		}
	}()
	next := map[bool]int64{}
	for i := range int64(n) {
		resp, err := ss.Recv()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case resp.Sequence != i:
			t.Fatalf("answer %d at %d", resp.Sequence, i)
		case i == 31:
			if resp.Error == nil || len(resp.Results) != 0 {
				t.Errorf("an empty batch: %v", resp)
			}
			continue
		case i == 30:
			if resp.Error != nil || resp.Results[1].GetError() == nil {
				t.Errorf("a wrong partition: %v", resp)
			}
			next[false]++
			continue
		}
		for _, r := range resp.Results {
			if r.GetPosition() == nil || r.GetPosition().Offset != next[i >= 50] {
				t.Fatalf("batch %d: %v, want offset %d", i, r, next[i >= 50])
			}
			next[i >= 50]++
		}
	}
	if _, err := ss.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
}

// A client that leaves in the middle leaves nothing behind: Close returns, goleak looks.
func TestGRPCProduceStreamCanceled(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	ctx, cancel := context.WithCancel(t.Context())
	ss, err := e.producer.ProduceStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(40) {
		if err := ss.Send(&datav1.ProduceStreamRequest{Sequence: i, Topic: "t", Records: texts("a")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ss.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	for {
		if _, err := ss.Recv(); err != nil {
			if status.Code(err) != codes.Canceled {
				t.Errorf("%v", err)
			}
			break
		}
	}
}

func TestGRPCTail(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tail, err := e.consumer.Tail(ctx, &datav1.TailRequest{Topic: "t", ValueFormat: datav1.PayloadFormat_PAYLOAD_FORMAT_TEXT})
	if err != nil {
		t.Fatal(err)
	}
	first, err := tail.Recv()
	if err != nil || len(first.Records) != 0 || first.Cursor == "" {
		t.Fatalf("%v, %v", first, err)
	}
	if _, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: texts("a", "b", "c")}); err != nil {
		t.Fatal(err)
	}
	got := 0
	for got < 3 {
		m, err := tail.Recv()
		if err != nil {
			t.Fatal(err)
		}
		got += len(m.Records)
	}
	cancel()
	if _, err := tail.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("%v", err)
	}
	again, err := e.consumer.Read(t.Context(), &datav1.ReadRequest{Topic: "t", Start: &datav1.Start{Position: &datav1.Start_Cursor{Cursor: first.Cursor}}})
	if err != nil || len(again.Records) != 3 {
		t.Errorf("from the first cursor: %v, %v", again, err)
	}
}

func TestGRPCTailEndsWithGateway(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	tail, err := e.consumer.Tail(t.Context(), &datav1.TailRequest{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tail.Recv(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.gw.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = tail.Recv()
	wantError(t, err, codes.Unavailable, "SHUTTING_DOWN")
}

func TestGRPCHealthAndReflection(t *testing.T) {
	e := newEnv(t, nil)
	health := grpc_health_v1.NewHealthClient(e.conn)
	for service, want := range map[string]codes.Code{"": codes.OK, "moldau.data.v1.ProducerService": codes.OK, "nope": codes.NotFound} {
		resp, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if status.Code(err) != want || err == nil && resp.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", service, resp, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	watch, err := health.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := watch.Recv(); err != nil || m.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", m, err)
	}
	cancel()
	if list, err := health.List(t.Context(), &grpc_health_v1.HealthListRequest{}); err != nil || len(list.Statuses) < 4 {
		t.Errorf("%v, %v", list, err)
	}
	info, err := grpc_reflection_v1.NewServerReflectionClient(e.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := info.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	resp, err := info.Recv()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range resp.GetListServicesResponse().GetService() {
		names[s.Name] = true
	}
	for _, want := range []string{"moldau.data.v1.ProducerService", "moldau.data.v1.ConsumerService", "moldau.admin.v1.TopicService", "grpc.health.v1.Health"} {
		if !names[want] {
			t.Errorf("reflection does not list %s: %v", want, names)
		}
	}
	if err := info.CloseSend(); err != nil {
		t.Error(err)
	}
}

// A gateway that can't reach its broker is not healthy, and says so in time.
func TestGRPCHealthWithoutBroker(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.BootstrapServers = []string{"127.0.0.1:1"} })
	resp, err := grpc_health_v1.NewHealthClient(e.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || resp.Status != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestGRPCTopics(t *testing.T) {
	e := newEnv(t, nil, kfake.NumBrokers(2))
	ctx := t.Context()
	for _, name := range []string{"b", "a1", "a3", "a2"} {
		resp, err := e.topics.CreateTopic(ctx, &adminv1.CreateTopicRequest{Name: name, PartitionCount: proto.Int32(2), ReplicationFactor: proto.Int32(1), Configs: map[string]string{"retention.ms": "1000"}})
		if err != nil {
			t.Fatal(err)
		}
		if topic := resp.Topic; topic.PartitionCount != 2 || topic.TopicId == "" {
			t.Errorf("%v", topic)
		}
	}
	var names []string
	for token := ""; ; {
		page, err := e.topics.ListTopics(ctx, &adminv1.ListTopicsRequest{Prefix: "a", PageSize: 2, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range page.Topics {
			names = append(names, topic.Name)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if len(names) != 3 || names[0] != "a1" || names[2] != "a3" {
		t.Errorf("%v", names)
	}
	if _, err := e.producer.Produce(ctx, &datav1.ProduceRequest{Topic: "b", Records: []*datav1.Record{{Partition: proto.Int32(1)}, {Partition: proto.Int32(1)}}}); err != nil {
		t.Fatal(err)
	}
	trimmed, err := e.topics.DeleteRecords(ctx, &adminv1.DeleteRecordsRequest{Topic: "b", Partitions: []*adminv1.DeleteRecordsPartition{{Partition: 1, BeforeOffset: 1}}})
	if err != nil || trimmed.Partitions[0].LogStartOffset != 1 {
		t.Errorf("%v, %v", trimmed, err)
	}
	got, err := e.topics.GetTopic(ctx, &adminv1.GetTopicRequest{Topic: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Topic.Partitions; len(p) != 2 || p[1].GetLogStartOffset() != 1 || p[1].GetHighWatermark() != 2 || len(p[0].Replicas) != 1 {
		t.Errorf("%v", p)
	}
	if v := config(got.Topic, "retention.ms"); v.GetValue() != "1000" || v.GetSource() != adminv1.ConfigSource_CONFIG_SOURCE_TOPIC {
		t.Errorf("%v", v)
	}
	up, err := e.topics.UpdateTopic(ctx, &adminv1.UpdateTopicRequest{Topic: "b", Set: map[string]string{"max.message.bytes": "2000"}, Delete: []string{"retention.ms"}})
	if err != nil || config(up.Topic, "max.message.bytes").GetValue() != "2000" || config(up.Topic, "retention.ms").GetSource() == adminv1.ConfigSource_CONFIG_SOURCE_TOPIC {
		t.Errorf("%v, %v", up, err)
	}
	more, err := e.topics.AddPartitions(ctx, &adminv1.AddPartitionsRequest{Topic: "b", PartitionCount: 4})
	if err != nil || more.Topic.PartitionCount != 4 {
		t.Errorf("%v, %v", more, err)
	}
	if _, err := e.topics.DeleteTopic(ctx, &adminv1.DeleteTopicRequest{Topic: "b"}); err != nil {
		t.Error(err)
	}
	_, err = e.topics.GetTopic(ctx, &adminv1.GetTopicRequest{Topic: "b"})
	wantError(t, err, codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION")
}

func config(topic *adminv1.Topic, name string) *adminv1.TopicConfig {
	for _, c := range topic.GetConfigs() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func TestGRPCTopicsRefuse(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(2, "t"))
	ctx := t.Context()
	check := func(want codes.Code, name string, err error) {
		t.Helper()
		wantError(t, err, want, name)
	}
	_, err := e.topics.CreateTopic(ctx, &adminv1.CreateTopicRequest{Name: "t"})
	check(codes.AlreadyExists, "TOPIC_ALREADY_EXISTS", err)
	_, err = e.topics.CreateTopic(ctx, &adminv1.CreateTopicRequest{Name: "a/b"})
	check(codes.InvalidArgument, "INVALID_TOPIC_EXCEPTION", err)
	_, err = e.topics.CreateTopic(ctx, &adminv1.CreateTopicRequest{Name: "x", PartitionCount: proto.Int32(0)})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
	_, err = e.topics.CreateTopic(ctx, &adminv1.CreateTopicRequest{Name: "x", ReplicationFactor: proto.Int32(70_000)})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
	_, err = e.topics.UpdateTopic(ctx, &adminv1.UpdateTopicRequest{Topic: "t"})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
	_, err = e.topics.UpdateTopic(ctx, &adminv1.UpdateTopicRequest{Topic: "t", Set: map[string]string{"retention.ms": "1"}, Delete: []string{"retention.ms"}})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
	_, err = e.topics.AddPartitions(ctx, &adminv1.AddPartitionsRequest{Topic: "t", PartitionCount: 1})
	check(codes.InvalidArgument, "INVALID_PARTITIONS", err)
	_, err = e.topics.DeleteTopic(ctx, &adminv1.DeleteTopicRequest{Topic: "nope"})
	check(codes.NotFound, "UNKNOWN_TOPIC_OR_PARTITION", err)
	_, err = e.topics.DeleteRecords(ctx, &adminv1.DeleteRecordsRequest{Topic: "t", Partitions: []*adminv1.DeleteRecordsPartition{{Partition: 0, BeforeOffset: 5}}})
	check(codes.OutOfRange, "OFFSET_OUT_OF_RANGE", err)
	_, err = e.topics.DeleteRecords(ctx, &adminv1.DeleteRecordsRequest{Topic: "t", Partitions: []*adminv1.DeleteRecordsPartition{{}, {}}})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
	_, err = e.topics.ListTopics(ctx, &adminv1.ListTopicsRequest{PageSize: -1})
	check(codes.InvalidArgument, "INVALID_ARGUMENT", err)
}

func TestGRPCMetrics(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	if _, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t", Records: texts("a", "b")}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.producer.Produce(t.Context(), &datav1.ProduceRequest{Topic: "t"}); err == nil {
		t.Fatal("no error")
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   float64
	}{
		{"moldau_gateway_records_total", map[string]string{"outcome": "produced"}, 2},
		{"moldau_gateway_requests_total", map[string]string{"door": "grpc", "operation": "Produce", "code": "OK"}, 1},
		{"moldau_gateway_requests_total", map[string]string{"door": "grpc", "operation": "Produce", "code": "INVALID_ARGUMENT"}, 1},
		{"moldau_gateway_inflight_bytes", nil, 0},
		{"moldau_gateway_clients", nil, 1},
	} {
		if got := e.metric(c.name, c.labels); got != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}

// metric returns the value of a counter or gauge, -1 if there is none.
func (e *env) metric(name string, labels map[string]string) float64 {
	e.t.Helper()
	families, err := e.registry.Gather()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if matches(m, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return -1
}

func matches(m *dto.Metric, labels map[string]string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if labels[l.GetName()] == l.GetValue() {
			found++
		}
	}
	return found == len(labels)
}

// Close ends open streams at once, but answers what they have sent.
func TestGRPCStreamsEndWithGateway(t *testing.T) {
	e := newEnv(t, nil, kfake.SeedTopics(1, "t"))
	ss, err := e.producer.ProduceStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := ss.Send(&datav1.ProduceStreamRequest{Topic: "t", Records: texts("a")}); err != nil {
		t.Fatal(err)
	}
	if resp, err := ss.Recv(); err != nil || resp.Results[0].GetPosition() == nil {
		t.Fatalf("%v, %v", resp, err)
	}
	info, err := grpc_reflection_v1.NewServerReflectionClient(e.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := info.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := info.Recv(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := e.gw.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = ss.Recv()
	wantError(t, err, codes.Unavailable, "SHUTTING_DOWN")
	_, err = info.Recv()
	wantError(t, err, codes.Unavailable, "SHUTTING_DOWN")
}

// A call that panics is answered, and the server lives on.
func TestGRPCPanic(t *testing.T) {
	e := newEnv(t, nil)
	in := newInterceptor(e.gw)
	in.prepare(e.gw.server)
	_, err := in.unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/x/Y"}, func(context.Context, any) (any, error) { panic("boom") })
	if status.Code(err) != codes.Internal || status.Convert(err).Message() != "internal error" {
		t.Errorf("%v", err)
	}
	err = in.stream(nil, nil, &grpc.StreamServerInfo{FullMethod: "/x/Y"}, func(any, grpc.ServerStream) error { panic("boom") })
	if status.Code(err) != codes.Internal {
		t.Errorf("%v", err)
	}
}
