package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"moldau/gateway"
	adminv1 "moldau/gen/moldau/admin/v1"
	"moldau/internal/jsontext"
)

// newAdmin returns the handler of the administrative endpoints, which are made from the protos.
func (h *handler) newAdmin() http.Handler {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newCodec()),
		runtime.WithErrorHandler(adminError),
		runtime.WithRoutingErrorHandler(routingError),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.SetQueryParameterParser(strictQuery{}),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithOutgoingHeaderMatcher(func(string) (string, bool) { return "", false }),
	)
	// It fails only where the connection is nil.
	if err := adminv1.RegisterTopicServiceHandlerClient(context.Background(), mux,
		adminv1.NewTopicServiceClient(h.gw.LocalConn())); err != nil {
		panic(fmt.Sprintf("register the topic service: %v", err))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.ContentLength != 0 {
			if _, f := bodyType(r.Header, jsonType); f != nil {
				writeFailure(w, f)
				return
			}
			body, reserved, err := h.readBody(w, r, nil)
			defer h.gw.Unreserve(reserved)
			if err != nil {
				fail(w, err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if accepted(r.Header, jsonType) == "" {
			writeFailure(w, notAcceptable(jsonType))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// strictQuery refuses parameters that do not exist, as the record endpoints do: the parser below it passes over them.
type strictQuery struct{ runtime.DefaultQueryParser }

// Parse implements runtime.QueryParameterParser.
func (q strictQuery) Parse(msg proto.Message, values url.Values, filter *utilities.DoubleArray) error {
	fields := msg.ProtoReflect().Descriptor().Fields()
	for name := range values {
		if fields.ByName(protoreflect.Name(name)) == nil {
			return fmt.Errorf("there is no parameter %q", name)
		}
	}
	return q.DefaultQueryParser.Parse(msg, values, filter)
}

// codec is JSON by protojson in one pass: the decoder that comes with the mux scans each body twice.
type codec struct{ runtime.JSONPb }

func newCodec() *codec {
	return &codec{runtime.JSONPb{
		MarshalOptions: protojson.MarshalOptions{EmitDefaultValues: true},
	}}
}

// Marshal implements runtime.Marshaler. protojson puts a space here and there, not always at the same places: equal
// answers are to be equal.
func (c *codec) Marshal(v any) ([]byte, error) {
	b, err := c.JSONPb.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(jsontext.Squeeze(b), '\n'), nil
}

// ContentType implements runtime.Marshaler.
func (*codec) ContentType(any) string { return jsonType }

// NewDecoder implements runtime.Marshaler.
func (c *codec) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		msg, ok := v.(proto.Message)
		if !ok {
			return c.JSONPb.NewDecoder(r).Decode(v) // a part of a body, which no route of ours has
		}
		body, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if len(body) == 0 {
			return io.EOF // the mux takes that for an empty message
		}
		return protojson.Unmarshal(body, msg)
	})
}

// adminError answers with a gRPC error in the shape of the other endpoints.
func adminError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	f := failureOfStatus(err)
	writeFailure(w, &f)
}

// failureOfStatus turns a gRPC status back into what it was made from.
func failureOfStatus(err error) gateway.Failure {
	var routed *runtime.HTTPStatusError
	if errors.As(err, &routed) {
		err = routed.Err
	}
	st := status.Convert(err)
	f := gateway.Failure{
		Code: st.Code(), HTTPStatus: runtime.HTTPStatusFromCode(st.Code()), Reason: gateway.CodeName(st.Code()),
		Message: st.Message(), Record: -1,
	}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			f.FromInfo(d)
		case *errdetails.RetryInfo:
			f.RetryAfter = d.GetRetryDelay().AsDuration()
		case *errdetails.BadRequest:
			if v := d.GetFieldViolations(); len(v) > 0 {
				f.Field = v[0].GetField()
			}
		}
	}
	return f
}

// routingError answers where a path or a method leads nowhere.
func routingError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	switch code {
	case http.StatusMethodNotAllowed:
		writeFailure(w, refusal(code, codes.Unimplemented, "METHOD_NOT_ALLOWED", r.Method+" is not possible here; see /openapi.json"))
	case http.StatusBadRequest:
		writeFailure(w, refusal(code, codes.InvalidArgument, "INVALID_ARGUMENT", "the path can't be read"))
	default:
		notFound(w, r)
	}
}
