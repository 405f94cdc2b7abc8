package controller

import "moldau/broker/metadata"

// TopicNameMax is the greatest length of a topic name.
const TopicNameMax = 249

// ValidateTopicName refuses a name that Kafka does not allow.
func ValidateTopicName(name string) error {
	switch {
	case name == "":
		return refuse(ErrInvalidTopic, "Topic name is invalid: the empty string is not allowed")
	case name == "." || name == "..":
		return refuse(ErrInvalidTopic, "Topic name is invalid: '%s' is not allowed", name)
	case len(name) > TopicNameMax:
		return refuse(ErrInvalidTopic, "Topic name is invalid: the length of '%s' is longer than the max allowed length %d", clip(name), TopicNameMax)
	}
	for i := range len(name) {
		if !legalTopicByte(name[i]) {
			return refuse(ErrInvalidTopic, "Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
		}
	}
	return nil
}

func legalTopicByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// clip keeps messages about hostile names short.
func clip(name string) string {
	if len(name) > 2*TopicNameMax {
		return name[:2*TopicNameMax] + "..."
	}
	return name
}

// checkNameFree refuses a name that is taken, or that collides with one that is: names that differ only in dots and
// underscores would share metric names.
func checkNameFree(img *metadata.Image, name string) error {
	_, holder, taken := img.NameClaim(name)
	switch {
	case !taken:
		return nil
	case holder != "" && holder != name:
		return refuse(ErrInvalidTopic, "Topic '%s' collides with existing topic: %s", name, holder)
	}
	return refuse(ErrTopicExists, "Topic '%s' already exists.", name)
}
