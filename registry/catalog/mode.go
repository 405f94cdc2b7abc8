package catalog

import (
	"slices"
	"strings"
)

// The modes.
const (
	ReadWrite        = "READWRITE"
	ReadOnly         = "READONLY"
	ReadOnlyOverride = "READONLY_OVERRIDE"
	Import           = "IMPORT"
	ForwardMode      = "FORWARD"
)

var modes = []string{ReadWrite, ReadOnly, ReadOnlyOverride, Import, ForwardMode}

// ParseMode finds a mode in any case of letters.
func ParseMode(text string) (mode string, ok bool) {
	mode = strings.ToUpper(text)
	return mode, slices.Contains(modes, mode)
}

// IsReadOnly says whether a mode forbids changes.
func IsReadOnly(mode string) bool { return mode == ReadOnly || mode == ReadOnlyOverride }

// IsImport says whether a mode takes schemas as they come, with ids and versions of the caller.
func IsImport(mode string) bool { return mode == Import || mode == ForwardMode }
