package protobuf

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate" // the constraints that schemas carry as options: registers its descriptor
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoregistry"
	_ "google.golang.org/protobuf/types/descriptorpb"          // the files of the language itself: each registers its descriptor
	_ "google.golang.org/protobuf/types/known/anypb"           // as above
	_ "google.golang.org/protobuf/types/known/apipb"           // as above
	_ "google.golang.org/protobuf/types/known/durationpb"      // as above
	_ "google.golang.org/protobuf/types/known/emptypb"         // as above
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"     // as above
	_ "google.golang.org/protobuf/types/known/sourcecontextpb" // as above
	_ "google.golang.org/protobuf/types/known/structpb"        // as above
	_ "google.golang.org/protobuf/types/known/timestamppb"     // as above
	_ "google.golang.org/protobuf/types/known/typepb"          // as above
	_ "google.golang.org/protobuf/types/known/wrapperspb"      // as above

	options "moldau/proto"
	"moldau/registry/format"
)

// standard are the files of the language that the runtime carries.
var standard = []string{
	"any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "type", "wrappers",
}

// validatePath is the file of protovalidate's options.
const validatePath = "buf/validate/validate.proto"

//go:embed builtin
var builtinFiles embed.FS

// builtins are the files that a schema can import without a reference. Each is compiled when it is first asked for.
type builtins struct {
	files map[string]func() (linker.File, error)
}

func newBuiltins() *builtins {
	b := &builtins{files: map[string]func() (linker.File, error){}}
	for _, name := range standard {
		path := "google/protobuf/" + name + ".proto"
		b.files[path] = sync.OnceValues(func() (linker.File, error) { return standardFile(path) })
	}
	b.files[validatePath] = sync.OnceValues(func() (linker.File, error) { return standardFile(validatePath) })
	walk := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, "builtin/")
		b.files[name] = sync.OnceValues(func() (linker.File, error) {
			text, err := builtinFiles.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("built-in %s: %w", name, err)
			}
			return b.embedded(name, string(text))
		})
		return nil
	}
	b.files[options.SubjectPath] = sync.OnceValues(func() (linker.File, error) {
		return b.embedded(options.SubjectPath, options.SubjectText)
	})
	if err := fs.WalkDir(builtinFiles, "builtin", walk); err != nil {
		panic(fmt.Sprintf("protobuf: embedded files: %v", err)) // they are part of the program
	}
	return b
}

func standardFile(path string) (linker.File, error) {
	fd, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return nil, fmt.Errorf("built-in %s: %w", path, err)
	}
	return linker.NewFileRecursive(fd)
}

func (b *builtins) embedded(name, text string) (linker.File, error) {
	u, err := link(name, text, func(path string) (linker.File, error) {
		dep, ok, err := b.find(path)
		if err == nil && !ok {
			err = fmt.Errorf("built-in %s imports %s, which is not built in", name, path)
		}
		return dep, err
	}, format.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("built-in %s: %w", name, err)
	}
	return u.linked, nil
}

// find answers the file of a path; ok is false when it is not built in.
func (b *builtins) find(path string) (f linker.File, ok bool, err error) {
	compile, ok := b.files[path]
	if !ok {
		return nil, false, nil
	}
	f, err = compile()
	return f, true, err
}
