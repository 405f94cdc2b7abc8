package group

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// maxRegexBytes bounds a regular expression: every name of a topic is matched with it.
const maxRegexBytes = 16 << 10

// compileRegex compiles a regular expression of RE2's syntax that a whole name has to match.
func compileRegex(expression string) (*regexp.Regexp, error) {
	if len(expression) > maxRegexBytes {
		return nil, refuse(ErrInvalidRegex, "SubscribedTopicRegex is longer than %d bytes.", maxRegexBytes)
	}
	if _, err := regexp.Compile(expression); err != nil { // alone first: the group below would make sense of ")("
		return nil, invalidRegex(expression, err)
	}
	re, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, invalidRegex(expression, err)
	}
	return re, nil
}

func invalidRegex(expression string, err error) error {
	why := err.Error()
	var bad *syntax.Error
	if errors.As(err, &bad) {
		why = bad.Code.String()
	}
	return refuse(ErrInvalidRegex, "SubscribedTopicRegex `%s` is not a valid regular expression: %s.", expression, why)
}

// matchTopics returns the names of all topics that match, in order; none for an expression that cannot be compiled, which another
// version may have written.
func matchTopics(expression string, topics Topics) []string {
	names := []string{}
	re, err := compileRegex(expression)
	if err != nil {
		return names
	}
	for topic := range topics.All() {
		if re.MatchString(topic.Name) {
			names = append(names, topic.Name)
		}
	}
	return names
}
