package node

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"moldau/broker"
	"moldau/broker/configdef"
	"moldau/broker/kafka"
	"moldau/broker/record"
	"moldau/registry/conform"
	"moldau/registry/format"
	"moldau/registry/format/avro"
	"moldau/registry/format/jsonschema"
	"moldau/registry/format/protobuf"
	"moldau/registry/store"
	"moldau/registry/validation"
)

// validator is the broker's view of package validation. The broker exists before that from which schemas come, so it waits for
// a source; until then producers are told to try again.
type validator struct {
	*validation.Validator
	source atomic.Pointer[func() (validation.Source, error)]
}

var errNoSource = errors.New("the server is starting")

func (p *process) newValidator() *validator {
	cfg := p.settings.registry
	v := new(validator)
	v.Validator = validation.New(validation.Options{
		Open: func() (validation.Source, error) {
			if open := v.source.Load(); open != nil {
				return (*open)()
			}
			return nil, errNoSource
		},
		SchemasTopic: cfg.Topic,
		Waiting:      max(p.settings.kafka.NumIOThreads/2, 1),
		Formats:      []format.Format{avro.New(cfg.Limits()), protobuf.New(cfg.Limits()), jsonschema.New(cfg.Limits())},
		Limits:       conform.DefaultLimits(),
		Registerer:   p.registry,
	})
	return v
}

// Validate implements broker.Validator.
func (v *validator) Validate(topic string, rules *configdef.Validation, records *record.Reader, limit int) (broker.Verdict, error) {
	t := validation.Topic{
		Name: topic, Key: partOf(rules.Key), Value: partOf(rules.Value),
		Envelope: envelopeOf(rules.Envelope), RejectNull: rules.RejectNull, LatestOnly: rules.LatestOnly,
	}
	found, err := v.Validator.Validate(&t, records, limit)
	var out broker.Verdict
	if len(found.Failures) > 0 {
		out.Failures = make([]broker.ValidationFailure, len(found.Failures))
	}
	for i, f := range found.Failures {
		out.Failures[i] = broker.ValidationFailure(f)
	}
	if found.Envelopes != nil {
		out.Envelopes = found.Envelopes
	}
	return out, err
}

// envelopeOf relies on both packages listing envelopes in the same order, which a test holds.
func envelopeOf(e configdef.ValidationEnvelope) validation.Envelope { return validation.Envelope(e) }

// partOf relies on both packages listing levels and strategies in the same order, which a test holds.
func partOf(p configdef.ValidatedPart) validation.Part {
	return validation.Part{Level: validation.Level(p.Level), Strategy: validation.Strategy(p.Strategy)}
}

// startValidation tells the validator where schemas come from: the registry of this process when it serves this broker, else
// the broker's own topic, which is read from the first use on.
func (p *process) startValidation(edge *kafka.Server) {
	v, own := p.validator, p.own
	if v == nil {
		return
	}
	open := func() (validation.Source, error) { return own, nil }
	var reader atomic.Pointer[store.Reader]
	if own == nil {
		dial := p.dialer(edge)
		cfg := p.settings.registry
		open = func() (validation.Source, error) {
			r, err := store.OpenReader(store.Options{
				Bootstrap: []string{"localhost:9092"}, // the dialer decides where that is
				Dial:      func(ctx context.Context, addr string) (net.Conn, error) { return dial(ctx, cfg.Principal, addr) },
				Topic:     cfg.Topic, Logger: p.log.With("component", "validation"),
			})
			if err != nil {
				return nil, err
			}
			reader.Store(r)
			return r, nil
		}
	}
	v.source.Store(&open)
	p.onStop("validation", func(context.Context) error {
		v.Close()
		if r := reader.Load(); r != nil {
			r.Close()
		}
		return nil
	})
}
