// Package exit holds the exit codes of the commands and the errors that carry
// them, together with the line to run next.
package exit

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit codes of every command.
const (
	OK        = 0
	Failed    = 1
	Usage     = 2
	Unhealthy = 3 // unhealthy, or no answer in time
	Denied    = 4
	NotFound  = 5
)

// Error is a failure with the exit code it deserves.
type Error struct {
	Code int
	Err  error
	Next string // the line to run next; empty when there is none
}

// Error returns the text of the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usagef makes the error of a command line that makes no sense.
func Usagef(format string, args ...any) error {
	return &Error{Code: Usage, Err: fmt.Errorf(format, args...)}
}

// Report prints an error and returns its exit code. command is the path of the
// command that failed, for the line to run next.
func Report(w io.Writer, command string, err error) int {
	if err == nil {
		return OK
	}
	code, next := Failed, ""
	var e *Error
	switch {
	case errors.As(err, &e):
		code, next = e.Code, e.Next
	case fromParser(err):
		code = Usage
	}
	if next == "" {
		next = command + " --help"
	}
	fmt.Fprintf(w, "error: %v\n", err)
	if next != "" {
		fmt.Fprintf(w, "next:  %s\n", next)
	}
	return code
}

// fromParser recognises the mistakes that the command-line parser finds; it
// has no type for them.
func fromParser(err error) bool {
	for _, prefix := range []string{
		"unknown command", "unknown flag", "unknown shorthand flag", "flag needs an argument", "invalid argument", "bad flag syntax",
		"accepts ", "requires ", "required flag", "if any flags in the group", "at least one of the flags",
	} {
		if strings.HasPrefix(err.Error(), prefix) {
			return true
		}
	}
	return false
}
