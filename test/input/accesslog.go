package input

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"
)

// AccessLogLines is the number of lines of the real access log.
const AccessLogLines = 10_000

var (
	methods = []string{"GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST"}
	paths   = []string{
		"/", "/style2.css", "/favicon.ico", "/images/web/2009/banner.png", "/robots.txt", "/reset.css",
		"/projects/xdotool/", "/blog/tags/puppet?flav=rss20", "/presentations/logstash-monitorama-2013/images/kibana-search.png",
		"/articles/dynamic-dns-with-dhcp/", "/projects/fex/", "/files/logstash/logstash-1.3.2-monolithic.jar",
	}
	statuses  = []int{200, 200, 200, 200, 200, 200, 200, 304, 304, 404, 301, 206, 500}
	referrers = []string{
		"-", "-", "http://semicomplete.com/", "http://www.semicomplete.com/projects/xdotool/",
		"http://semicomplete.com/presentations/logstash-monitorama-2013/",
		"http://www.semicomplete.com/articles/dynamic-dns-with-dhcp/",
	}
	agents = []string{
		`Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.107 Safari/537.36`,
		`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36`,
		`Mozilla/5.0 (X11; Linux x86_64; rv:27.0) Gecko/20100101 Firefox/27.0`,
		`Mozilla/5.0 (compatible; bot/2.1; +http://www.example.com/bot.html)`,
		`UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/`,
		`Mozilla/5.0 (iPad; CPU OS 7_0 like Mac OS X) AppleWebKit/537.51.1 (KHTML, like Gecko) Version/7.0 Mobile/11A465 Safari/9537.53`,
	}
)

// GenerateAccessLog makes n lines in combined log format. The same seed gives
// the same bytes. About one line in forty repeats an earlier one.
func GenerateAccessLog(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0x6d6f6c64))
	at := time.Date(2015, 5, 17, 10, 5, 0, 0, time.UTC)
	var b bytes.Buffer
	var earlier []string
	for range n {
		at = at.Add(time.Duration(rng.IntN(60)) * time.Second)
		line := accessLine(rng, at)
		if len(earlier) > 0 && rng.IntN(40) == 0 {
			line = earlier[rng.IntN(len(earlier))]
		}
		earlier = append(earlier, line)
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func accessLine(rng *rand.Rand, at time.Time) string {
	return fmt.Sprintf(`198.%d.%d.%d - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`,
		18+rng.IntN(2), rng.IntN(256), rng.IntN(256), at.Format("02/Jan/2006:15:04:05 -0700"),
		pick(rng, methods), pick(rng, paths), pick(rng, statuses), rng.IntN(200_000), pick(rng, referrers), pick(rng, agents))
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }
