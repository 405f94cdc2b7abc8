package clientmetrics

import "errors"

// What a request may be refused with.
var (
	// ErrThrottled says that the client asks or pushes before its interval is over (THROTTLING_QUOTA_EXCEEDED).
	ErrThrottled = errors.New("the request arrived before the next push interval")
	// ErrUnknownSubscription says that the client pushed under another subscription than it has now
	// (UNKNOWN_SUBSCRIPTION_ID); it asks for its subscription again.
	ErrUnknownSubscription = errors.New("the client has another subscription now")
	// ErrUnsupportedCompression says that the payload's compression type isn't known (UNSUPPORTED_COMPRESSION_TYPE).
	ErrUnsupportedCompression = errors.New("the compression type of the telemetry is not supported")
	// ErrTooLarge says that the payload is larger than telemetry.max.bytes (TELEMETRY_TOO_LARGE).
	ErrTooLarge = errors.New("the telemetry is larger than telemetry.max.bytes")
	// ErrInvalidPayload says that the payload isn't what it should be (INVALID_RECORD).
	ErrInvalidPayload = errors.New("the telemetry can't be read")
	// ErrInvalidRequest says that the client has no id, or has said goodbye before (INVALID_REQUEST).
	ErrInvalidRequest = errors.New("the telemetry request is invalid")
)
