package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	yaml "go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// maxImageBytes bounds an image, expanded.
const maxImageBytes = 64 << 20

// parseImage reads a buf image in any of the forms that buf build writes: binary, JSON, text or YAML, plain or compressed with gzip or
// Zstandard. The name tells which; where it does not, as with standard input, the bytes tell JSON and the compressions from binary.
func parseImage(path string, raw []byte) (*descriptorpb.FileDescriptorSet, error) {
	raw, name, err := expandImage(path, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	set := new(descriptorpb.FileDescriptorSet)
	switch form := filepath.Ext(name); {
	case form == ".yaml" || form == ".yml":
		if raw, err = yamlToJSON(raw); err == nil {
			set, err = parseWithOptions(raw, fromJSON)
		}
	case form == ".txtpb":
		set, err = parseWithOptions(raw, fromText)
	case form == ".json" || form != ".binpb" && form != ".bin" && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")):
		set, err = parseWithOptions(raw, fromJSON)
	default:
		err = proto.Unmarshal(raw, set)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no image: %w", path, err)
	}
	return set, nil
}

// expandImage undoes a compression, and returns the name without its ending.
func expandImage(path string, raw []byte) ([]byte, string, error) {
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(raw, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(raw))
	case bytes.HasPrefix(raw, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxImageBytes)); err == nil {
			defer z.Close()
			r = z
		}
	default:
		return raw, path, nil
	}
	if err != nil {
		return nil, "", err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxImageBytes+1))
	if err == nil && len(out) > maxImageBytes {
		err = fmt.Errorf("it expands to more than %d bytes", maxImageBytes)
	}
	return out, strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst"), err
}

// yamlToJSON is the same document in JSON.
func yamlToJSON(raw []byte) ([]byte, error) {
	var document any
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

// imageForm reads a set of descriptors in a form in which options that are extensions stand by their names.
type imageForm func(raw []byte, types *dynamicpb.Types, into proto.Message) error

func fromJSON(raw []byte, types *dynamicpb.Types, into proto.Message) error {
	o := protojson.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true}
	if types != nil {
		o.Resolver = types
	}
	return o.Unmarshal(raw, into)
}

func fromText(raw []byte, types *dynamicpb.Types, into proto.Message) error {
	o := prototext.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true}
	if types != nil {
		o.Resolver = types
	}
	return o.Unmarshal(raw, into)
}

// parseWithOptions reads an image twice: what its options are called is known when its own files are.
func parseWithOptions(raw []byte, form imageForm) (*descriptorpb.FileDescriptorSet, error) {
	var bare, set descriptorpb.FileDescriptorSet
	if err := form(raw, nil, &bare); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(&bare)
	if err != nil {
		return nil, err
	}
	if err := form(raw, dynamicpb.NewTypes(files), &set); err != nil {
		return nil, err
	}
	if len(set.GetFile()) == 0 {
		return nil, errors.New("it holds no files")
	}
	return &set, nil
}
