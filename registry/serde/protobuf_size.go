package serde

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"moldau/registry/format/protobuf"
)

// maxAnyNesting bounds how deeply values of google.protobuf.Any stand within one another: each is decoded anew.
const maxAnyNesting = 32

var errTooMuch = errors.New("its JSON would be larger than is permitted")

// settle makes a decoded message fit to be written as JSON. It takes the names and defaults that the JSON will hold besides what is in
// the payload from left, as a few bytes may stand for very many of them, and it looks into what an Any holds, which the
// library decodes later: changed tells that it had to be mended.
func (c *protobufCodec) settle(m protoreflect.Message, left *int, anys int) (changed bool, err error) {
	if *left -= c.defaultSize(m.Descriptor()); *left < 0 {
		return false, errTooMuch
	}
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		return c.settleAny(m, left, anys)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.HasPresence() {
			*left -= len(fd.JSONName())
		}
		each := func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			var inner bool
			inner, err = c.settleValue(fd, v, left, anys)
			changed = changed || inner
			return err == nil
		}
		switch {
		case fd.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { return each(fd.MapValue(), v) })
		case fd.IsList():
			for i := 0; err == nil && i < v.List().Len(); i++ {
				each(fd, v.List().Get(i))
			}
		default:
			each(fd, v)
		}
		return err == nil
	})
	return changed, err
}

func (c *protobufCodec) settleValue(fd protoreflect.FieldDescriptor, v protoreflect.Value, left *int, anys int) (changed bool, err error) {
	switch {
	case fd.Message() != nil:
		return c.settle(v.Message(), left, anys)
	case fd.Enum() != nil:
		if symbol := fd.Enum().Values().ByNumber(v.Enum()); symbol != nil {
			*left -= len(symbol.Name())
		}
	}
	if *left < 0 {
		return false, errTooMuch
	}
	return false, nil
}

// settleAny looks into an Any. One that can't be read stays as it is: the library says what is wrong with it.
func (c *protobufCodec) settleAny(m protoreflect.Message, left *int, anys int) (changed bool, err error) {
	fields := m.Descriptor().Fields()
	url, value := fields.ByNumber(1), fields.ByNumber(2)
	if anys++; anys > maxAnyNesting {
		return false, fmt.Errorf("an Any is %w", protobuf.ErrTooDeep)
	}
	if url == nil || value == nil {
		return false, nil
	}
	t, err := c.types.FindMessageByURL(m.Get(url).String())
	if err != nil {
		return false, nil //nolint:nilerr // see above
	}
	held := m.Get(value).Bytes()
	b, err := protobuf.WithoutStrayKeys(t.Descriptor(), c.types, held)
	if err != nil {
		return false, err
	}
	inner := t.New()
	o := proto.UnmarshalOptions{Resolver: c.types, RecursionLimit: maxNesting, AllowPartial: true}
	if err := o.Unmarshal(b, inner.Interface()); err != nil {
		return false, fmt.Errorf("an Any of %s: %s", t.Descriptor().FullName(), withoutPrefix(err))
	}
	deeper, err := c.settle(inner, left, anys)
	switch {
	case err != nil:
		return false, err
	case deeper:
		if b, err = (proto.MarshalOptions{AllowPartial: true}).Marshal(inner.Interface()); err != nil {
			return false, err
		}
	case len(b) == len(held):
		return false, nil
	}
	m.Set(value, protoreflect.ValueOfBytes(b))
	return true, nil
}

// defaultSize is about how long the JSON of an empty message is.
func (c *protobufCodec) defaultSize(d protoreflect.MessageDescriptor) int {
	if n, ok := c.defaults.Load(d.FullName()); ok {
		return n.(int) //nolint:forcetypeassert // what is stored below
	}
	const around = len(`"":false,`)
	n := len(`{},`)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.HasPresence() {
			continue
		}
		n += len(f.JSONName()) + around
		if f.Enum() != nil && !f.IsList() && f.DefaultEnumValue() != nil {
			n += len(f.DefaultEnumValue().Name())
		}
	}
	c.defaults.Store(d.FullName(), n)
	return n
}
