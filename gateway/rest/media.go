package rest

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"

	"moldau/gateway"
)

const (
	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"
	sseType    = "text/event-stream"
	bytesType  = "application/octet-stream"
)

// bodyType returns the type of a body, one of offers, by its Content-Type; none at all is taken for the first. A charset of
// UTF-8, which is JSON's own, changes nothing. Other types are refused.
func bodyType(h http.Header, offers ...string) (string, *gateway.Failure) {
	value := h.Get("Content-Type")
	if value == "" || value == offers[0] {
		return offers[0], nil
	}
	media, params, err := mime.ParseMediaType(value)
	charset := strings.ToLower(params["charset"])
	if err == nil && slices.Contains(offers, media) && (charset == "" || charset == "utf-8" || charset == "us-ascii") {
		return media, nil
	}
	return "", refusal(http.StatusUnsupportedMediaType, codes.InvalidArgument, "UNSUPPORTED_MEDIA_TYPE",
		"the Content-Type "+strconv.Quote(value)+" is not supported; send "+strings.Join(offers, " or "))
}

// accepted returns the one of offers that the Accept headers like best, the first of equals, or "" if none is liked.
func accepted(h http.Header, offers ...string) string {
	values := h.Values("Accept")
	if len(values) == 0 {
		return offers[0]
	}
	if len(values) == 1 && (values[0] == "*/*" || values[0] == offers[0]) {
		return offers[0]
	}
	best, bestQuality := "", 0.0
	for _, offer := range offers {
		if q := quality(values, offer); q > bestQuality {
			best, bestQuality = offer, q
		}
	}
	return best
}

// quality returns how much a media type is liked, from 0 to 1. The most exact range that matches it decides.
func quality(values []string, offer string) float64 {
	q, exactness := 0.0, 0
	kind, _, _ := strings.Cut(offer, "/")
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
			if err != nil {
				continue
			}
			match := 0
			switch media {
			case offer:
				match = 3
			case kind + "/*":
				match = 2
			case "*/*":
				match = 1
			}
			if match <= exactness {
				continue
			}
			exactness, q = match, 1
			if text, ok := params["q"]; ok {
				if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && v <= 1 {
					q = v
				}
			}
		}
	}
	return q
}

func notAcceptable(offers ...string) *gateway.Failure {
	return refusal(http.StatusNotAcceptable, codes.InvalidArgument, "NOT_ACCEPTABLE",
		"none of the types of the Accept header is offered; offered are "+strings.Join(offers, ", "))
}
