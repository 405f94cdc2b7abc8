package config

// nearest returns the known name that a misspelt one most likely meant, or ""
// when none is near: at most one edit for every four letters, at most three.
func nearest(name string, known []string) string {
	limit := min(len(name)/4, 3)
	best, bestDistance := "", limit+1
	for _, k := range known {
		if d := distance(name, k, bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two names, counting a swap of two
// neighbours as one edit, or limit when it is not below that.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	rows := [3][]int{}
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	before, prev, cur := rows[0], rows[1], rows[2]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}
