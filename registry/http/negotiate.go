package http

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of requests and answers. The first is the one of answers unless another is asked for.
const (
	defaultMedia = "application/vnd.schemaregistry.v1+json"
	otherMedia   = "application/vnd.schemaregistry+json"
	jsonMedia    = "application/json"
	bytesMedia   = "application/octet-stream" // of requests whose senders name none
)

// acceptUnknown is the header of clients that take fields which older ones don't know.
const acceptUnknown = "Confluent-Accept-Unknown-Properties"

// offers are the media types of answers in the order of preference, and how much they are preferred.
var offers = []struct {
	media string
	q     float64
}{{defaultMedia, 1}, {otherMedia, 0.9}, {jsonMedia, 0.5}}

// negotiate chooses the media type of an answer.
func negotiate(accept []string) (string, error) {
	text := strings.Join(accept, ",")
	if strings.TrimSpace(text) == "" {
		return defaultMedia, nil
	}
	best, bestQ := "", 0.0
	for part := range strings.SplitSeq(text, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil {
				continue
			}
		}
		for _, o := range offers {
			if covers(media, o.media) && q*o.q > bestQ {
				best, bestQ = o.media, q*o.q
			}
		}
	}
	if best == "" {
		return "", plain(http.StatusNotAcceptable)
	}
	return best, nil
}

func covers(want, offer string) bool {
	if want == "*" || strings.HasPrefix(want, "*/") { // the lone star is sent by old clients
		return true
	}
	if head, ok := strings.CutSuffix(want, "/*"); ok {
		return strings.HasPrefix(offer, head+"/")
	}
	return want == offer
}

// takesMedia tells whether a request may have a body of this type.
func takesMedia(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch media {
	case defaultMedia, otherMedia, jsonMedia, bytesMedia:
		return true
	}
	return false
}
