package schemas

// valueless are the files of which no value is made up, and why.
var valueless = map[string]string{
	"google/api/annotations.proto":           "it extends options only",
	"google/api/error_reason.proto":          "it has enums only",
	"google/api/field_behavior.proto":        "it extends options only",
	"google/api/launch_stage.proto":          "it has enums only",
	"google/logging/type/log_severity.proto": "it has enums only",
	"google/rpc/code.proto":                  "it has enums only",
	"google/type/calendar_period.proto":      "it has enums only",
	"google/type/dayofweek.proto":            "it has enums only",
	"google/type/month.proto":                "it has enums only",
}
