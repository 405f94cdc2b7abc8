package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

func newSchemaDiff(a *app, f *registryFlags) *cobra.Command {
	var file schemaFile
	cmd := &cobra.Command{
		Use:   "diff SUBJECT[@VERSION] [SUBJECT[@VERSION]]",
		Short: "Compare two schemas line by line",
		Long: `Compare two schemas line by line, JSON in one member a line. The second is a
version of a subject or a file. Exit code 1 where they differ, as with diff.`,
		Example: `  moldau registry schema diff orders-value@1 orders-value@2
  moldau registry schema diff orders-value --schema-file order.avsc`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: f.completeSubject(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (file.path == "") {
				return exit.Usagef("want two of SUBJECT[@VERSION], or one and --schema-file")
			}
			var other registered
			var err error
			name := file.path
			if name != "" {
				if other, err = file.read(a.in); err != nil {
					return err
				}
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				one, err := schemaAt(ctx, s, args[0], true)
				if err == nil && len(args) == 2 {
					name = args[1]
					other, err = schemaAt(ctx, s, args[1], true)
				}
				if err != nil {
					return err
				}
				lines := diffLines(strings.Split(one.pretty(), "\n"), strings.Split(other.pretty(), "\n"))
				return a.printDiff(args[0], name, lines)
			})
		},
	}
	file.bind(cmd)
	a.withFormat(cmd)
	return cmd
}

// diffLine is a line that both texts have, or one of them.
type diffLine struct {
	Mark string `json:"mark"` // " ", "-" or "+"
	Text string `json:"text"`
}

// printDiff prints the differences with three lines around them.
func (a *app) printDiff(one, other string, lines []diffLine) error {
	differ := false
	for _, l := range lines {
		differ = differ || l.Mark != " "
	}
	err := printValue(a, lines, func(w io.Writer) error {
		if !differ {
			return nil
		}
		if _, err := fmt.Fprintf(w, "--- %s\n+++ %s\n", one, other); err != nil {
			return err
		}
		return printNear(w, lines)
	})
	if err == nil && differ {
		err = &exit.Error{Code: exit.Failed, Err: fmt.Errorf("%s and %s differ", one, other)}
	}
	return err
}

// around is how many lines that both have are shown beside a difference.
const around = 3

func printNear(w io.Writer, lines []diffLine) error {
	last := -1 // the last line printed
	for i := range lines {
		if !nearDifference(lines, i) {
			continue
		}
		if last >= 0 && i > last+1 {
			if _, err := fmt.Fprintln(w, "..."); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w, lines[i].Mark+lines[i].Text); err != nil {
			return err
		}
		last = i
	}
	return nil
}

func nearDifference(lines []diffLine, i int) bool {
	for j := max(i-around, 0); j <= min(i+around, len(lines)-1); j++ {
		if lines[j].Mark != " " {
			return true
		}
	}
	return false
}

// maxDiffCells bounds the table of a comparison. Larger texts are shown as wholly different between what they begin and end
// with alike.
const maxDiffCells = 16 << 20

// diffLines compares by the longest common subsequence.
func diffLines(a, b []string) []diffLine {
	var head, tail []diffLine
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, diffLine{" ", a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]diffLine{{" ", a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return append(append(head, diffMiddle(a, b)...), tail...)
}

func diffMiddle(a, b []string) []diffLine {
	var out []diffLine
	if len(a)*len(b) <= maxDiffCells {
		common := commonTable(a, b)
		width := len(b) + 1
		for len(a) > 0 && len(b) > 0 {
			i, j := len(common)/width-1-len(a), width-1-len(b)
			switch {
			case a[0] == b[0]:
				out = append(out, diffLine{" ", a[0]})
				a, b = a[1:], b[1:]
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				out = append(out, diffLine{"-", a[0]})
				a = a[1:]
			default:
				out = append(out, diffLine{"+", b[0]})
				b = b[1:]
			}
		}
	}
	for _, line := range a {
		out = append(out, diffLine{"-", line})
	}
	for _, line := range b {
		out = append(out, diffLine{"+", line})
	}
	return out
}

// commonTable holds, for each pair of ends of a and b, how many lines they have in common in order.
func commonTable(a, b []string) []int32 {
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	return table
}
