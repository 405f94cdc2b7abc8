package kafka

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ListTransactions (key 66), versions 0 to 2 (KIP-664).
//
// 1: a duration (KIP-994). 2: a pattern of transactional ids (KIP-1152).

// noSuchState is a state that no transaction has: the filter of who asks for states with unknown names only.
const noSuchState broker.TransactionState = -1

// listTransactions lists the transactional ids that this broker coordinates.
func (c *conn) listTransactions(ctx context.Context, r *request, q *kmsg.ListTransactionsRequest) reply {
	resp := q.ResponseKind().(*kmsg.ListTransactionsResponse)
	f := broker.TransactionFilter{ProducerIDs: q.ProducerIDFilters, LongerThan: -1}
	if q.Version >= 1 && q.DurationFilterMillis >= 0 {
		f.LongerThan = time.Duration(min(q.DurationFilterMillis, maxRetentionMillis)) * time.Millisecond
	}
	for _, name := range q.StateFilters {
		if s, ok := broker.ParseTransactionState(name); ok {
			f.States = append(f.States, s)
		} else {
			f.States = append(f.States, noSuchState)
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, name)
		}
	}
	if p := q.TransactionalIDPattern; q.Version >= 2 && p != nil && *p != "" {
		re, err := wholeMatch(*p)
		if err != nil {
			resp.ErrorCode = kerr.InvalidRegularExpression.Code
			return answer(resp)
		}
		f.Match = re.MatchString
	}
	found, err := c.node.ListTransactions(ctx, r.caller, &f)
	resp.ErrorCode = code(err)
	for i := range found {
		t := kmsg.NewListTransactionsResponseTransactionState()
		t.TransactionalID, t.ProducerID, t.TransactionState = found[i].ID, found[i].ProducerID, found[i].State.String()
		resp.TransactionStates = append(resp.TransactionStates, t)
	}
	return answer(resp)
}

// maxPattern bounds the length of a pattern.
const maxPattern = 1 << 10

var errPatternTooLong = errors.New("the pattern is too long")

// wholeMatch compiles a pattern that the whole text has to match.
func wholeMatch(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errPatternTooLong
	}
	return regexp.Compile("^(?:" + pattern + ")$")
}
