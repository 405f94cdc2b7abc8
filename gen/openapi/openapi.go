// Package openapi holds the generated descriptions of the HTTP API. This file is the one in gen/ that is written by
// hand: Go embeds files only from below the package that names them.
package openapi

import _ "embed"

// Topic describes the endpoints of moldau.admin.v1.TopicService, in OpenAPI 3.1.
//
//go:embed moldau/admin/v1/topic.openapi.json
var Topic []byte
