package main

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"moldau/cmd/moldau/internal/exit"
)

func newTopic(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "List, make, change, write and read topics",
	}
	a.withCluster(cmd)
	cmd.AddCommand(
		newTopicList(a), newTopicDescribe(a), newTopicCreate(a), newTopicAlter(a), newTopicDelete(a), newTopicAddPartitions(a),
		newTopicTrim(a), newTopicProduce(a), newTopicConsume(a), newTopicTail(a), newTopicWhichPartition(a),
	)
	return cmd
}

// choose returns the topics that the arguments name, sorted. With regex the
// arguments are regular expressions; without, a name that is not there is an
// error.
func choose(all kadm.TopicDetails, args []string, regex bool) ([]kadm.TopicDetail, error) {
	if !regex {
		var out []kadm.TopicDetail
		for _, name := range args {
			d, ok := all[name]
			if !ok {
				return nil, notFound(name)
			}
			if d.Err != nil {
				return nil, fmt.Errorf("topic %s: %w", name, d.Err)
			}
			out = append(out, d)
		}
		return out, nil
	}
	var exprs []*regexp.Regexp
	for _, arg := range args {
		re, err := regexp.Compile(arg)
		if err != nil {
			return nil, exit.Usagef("%q is no regular expression: %w", arg, err)
		}
		exprs = append(exprs, re)
	}
	var out []kadm.TopicDetail
	for _, d := range all.Sorted() {
		if slices.ContainsFunc(exprs, func(re *regexp.Regexp) bool { return re.MatchString(d.Topic) }) {
			out = append(out, d)
		}
	}
	return out, nil
}

func notFound(topic string) error {
	return &exit.Error{
		Code: exit.NotFound,
		Err:  fmt.Errorf("topic %s: %w", topic, kerr.UnknownTopicOrPartition),
		Next: "moldau topic list    (or make it: moldau topic create " + topic + ")",
	}
}

// topicID is a topic's id in Kafka's notation.
func topicID(id kadm.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// outcome prints what happened to each topic and keeps the first error for the
// exit code.
type outcome struct {
	a   *app
	err error
}

func (o *outcome) add(topic, done string, err error) {
	if err == nil {
		fmt.Fprintf(o.a.err, "%s: %s\n", topic, done)
		return
	}
	err = o.a.cluster.Explain(fmt.Errorf("topic %s: %w", topic, err))
	if o.err == nil {
		o.err = err
		return
	}
	fmt.Fprintf(o.a.err, "error: %v\n", err)
}

// withMessage puts the broker's own words behind an error code.
func withMessage(err error, message string) error {
	if err == nil || message == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, message)
}

func usagePair(text string) error { return exit.Usagef("%q: want key=value", text) }
